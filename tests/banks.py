"""The banks of answers of all graded notebooks."""

from tests import (
    bank_1_gpipe_diagram,
    bank_2_1f1b_phases,
    bank_3_bubble_fraction,
    bank_4_virtual_stages,
    bank_5_tp_pp_dp_design,
    bank_6_experiment_table,
)

BANKS = (bank_1_gpipe_diagram, bank_2_1f1b_phases, bank_3_bubble_fraction, bank_4_virtual_stages, bank_5_tp_pp_dp_design,
         bank_6_experiment_table)
