"""The known schedules, one file each, and SCHEDULES, the table of them: a new one is a function and a line here."""

from course.schedules.dualpipe_v import DUALPIPE_V, dualpipe_v
from course.schedules.entry import Entry
from course.schedules.gpipe import GPIPE, gpipe
from course.schedules.interleaved_1f1b import INTERLEAVED_1F1B, interleaved_1f1b
from course.schedules.looped_bfs import LOOPED_BFS, looped_bfs
from course.schedules.one_f_one_b import ONE_F_ONE_B, one_f_one_b
from course.schedules.zb_h1 import ZB_H1, zb_h1
from course.schedules.zb_h2 import ZB_H2, zb_h2
from course.schedules.zb_v import ZB_V, zb_v

SCHEDULES: dict[str, Entry] = {entry.name: entry for entry in (
    GPIPE, ONE_F_ONE_B, INTERLEAVED_1F1B, LOOPED_BFS, ZB_H1, ZB_H2, ZB_V, DUALPIPE_V)}

__all__ = ["SCHEDULES", "Entry", "dualpipe_v", "gpipe", "interleaved_1f1b", "looped_bfs", "one_f_one_b", "zb_h1", "zb_h2",
           "zb_v"]
