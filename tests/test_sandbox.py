"""What a stranger's code can and cannot do in the sandbox, started by this user (CI: root) and by a normal one."""

import sys

import pytest

from tests.sandbox_host import hosted

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the sandbox is Linux's")


@pytest.fixture(scope="module", params=[False, True], ids=["this user", "a normal user"])
def host(request):
    with hosted(request.param) as found:
        yield found


def test_a_submission_runs_and_answers_as_in_a_plain_session(host):
    found = host.run("import torch\nfrom course import schedules\nx = torch.arange(3) * 2", "print('hello')", "1 / 0", "def f(:")
    assert found.ran == [None, None, "ZeroDivisionError", "SyntaxError"]
    assert found.x == [0, 2, 4] and found.output == "hello\n" and found.ended is None
