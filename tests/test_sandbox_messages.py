"""Messages between the grader and the fork server: descriptors go through also where many are on their way."""

import errno
import socket

from autograder.sandbox import messages


def test_descriptors_are_sent_when_fewer_of_this_user_are_on_their_way(monkeypatch):
    errors = iter([errno.ETOOMANYREFS, errno.ETOOMANYREFS])

    def send(*arguments):
        if number := next(errors, None):
            raise OSError(number, "")
        sent.append(arguments)

    sent = []
    monkeypatch.setattr(messages, "PAUSE", 0)
    monkeypatch.setattr(socket, "send_fds", send)
    messages.send_descriptors("there", {"slot": 1}, 4, 5)
    assert sent == [("there", [b'{"slot": 1}'], (4, 5))]
