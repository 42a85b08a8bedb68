"""Threads follow what a process may use: its affinity, and the quotas of the control groups it is in."""

import pytest

from lineal.data import thread_count, threads

MOUNT = "30 25 0:26 {origin} {place} rw,nosuid - {kind} {kind} {options}\n"


def machine(root, groups, mounts, files):
    """A made-up /proc/self and the files of some control groups."""
    own = root / "proc" / "self"
    own.mkdir(parents=True)
    (own / "cgroup").write_text(groups)
    (own / "mountinfo").write_text("22 1 8:1 / / rw - ext4 /dev/sda1 rw\n" + mounts)
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def second(origin="/"):
    return MOUNT.format(origin=origin, place="/sys/fs/cgroup", kind="cgroup2", options="rw")


def first(origin="/"):
    place = "/sys/fs/cgroup/cpu,cpuacct"
    return MOUNT.format(origin=origin, place=place, kind="cgroup", options="rw,cpu,cpuacct")


SECOND = {
    "no file at the root": ("0::/\n", second(), {}, None),
    "no limit": ("0::/\n", second(), {"cpu.max": "max 100000\n"}, None),
    "two cores": ("0::/\n", second(), {"cpu.max": "200000 100000\n"}, 2),
    "a period of its own": ("0::/\n", second(), {"cpu.max": "30000 10000\n"}, 3),
    "less than a core": ("0::/\n", second(), {"cpu.max": "20000 100000\n"}, 1),
    "rounded down": ("0::/\n", second(), {"cpu.max": "240000 100000\n"}, 2),
    "rounded up": ("0::/\n", second(), {"cpu.max": "260000 100000\n"}, 3),
    "the group's own": ("0::/a/b\n", second(), {"a/b/cpu.max": "100000 100000\n"}, 1),
    "the tightest is outside": (
        "0::/a/b\n",
        second(),
        {"a/b/cpu.max": "400000 100000\n", "a/cpu.max": "150000 100000\n", "cpu.max": "max 100000\n"},
        2,
    ),
    "a sibling's": ("0::/a\n", second(), {"b/cpu.max": "100000 100000\n"}, None),
    "mounted from the group on": ("0::/host/c\n", second("/host/c"), {"cpu.max": "300000 100000\n"}, 3),
    "a group below the mounted one": (
        "0::/host/c/d\n",
        second("/host/c"),
        {"d/cpu.max": "200000 100000\n", "cpu.max": "300000 100000\n"},
        2,
    ),
    "told in names of another root": ("0::/../x\n", second("/y"), {"cpu.max": "200000 100000\n"}, 2),
    "unreadable": ("0::/\n", second(), {"cpu.max": "what is this\n"}, None),
    "nothing granted": ("0::/\n", second(), {"cpu.max": "0 100000\n"}, None),
}


@pytest.mark.parametrize("case", SECOND)
def test_second_version(case, tmp_path):
    """Of control groups of the second version the tightest cpu.max holds, the process's own or around it."""
    groups, mounts, files, wanted = SECOND[case]
    placed = {f"sys/fs/cgroup/{name}": text for name, text in files.items()}
    assert threads.quota(machine(tmp_path, groups, mounts, placed)) == wanted


def _v1(quota, period="100000"):
    return {"cpu.cfs_quota_us": f"{quota}\n", "cpu.cfs_period_us": f"{period}\n"}


FIRST = {
    "no limit": ("4:cpu,cpuacct:/\n", first(), {"": _v1("-1")}, None),
    "half a core": ("4:cpu,cpuacct:/\n", first(), {"": _v1("50000")}, 1),
    "nested": ("4:cpu,cpuacct:/a/b\n", first(), {"a/b/": _v1("-1"), "a/": _v1("300000")}, 3),
    "another controller": ("4:memory:/a\n", first(), {"a/": _v1("100000")}, None),
    "mounted from the group on": ("4:cpu,cpuacct:/docker/x\n", first("/docker/x"), {"": _v1("200000")}, 2),
    "no period": ("4:cpu:/\n", first(), {"": {"cpu.cfs_quota_us": "200000"}}, None),
}


@pytest.mark.parametrize("case", FIRST)
def test_first_version(case, tmp_path):
    """Of control groups of the first version the tightest cfs quota holds."""
    groups, mounts, folders, wanted = FIRST[case]
    placed = {
        f"sys/fs/cgroup/cpu,cpuacct/{folder}{name}": text
        for folder, files in folders.items()
        for name, text in files.items()
    }
    assert threads.quota(machine(tmp_path, groups, mounts, placed)) == wanted


def test_both_versions_side_by_side(tmp_path):
    """Where both are mounted, as on systems that change over, whichever is tighter holds."""
    files = {f"sys/fs/cgroup/cpu,cpuacct/{name}": text for name, text in _v1("300000").items()}
    files["sys/fs/cgroup/cpu.max"] = "200000 100000\n"
    root = machine(tmp_path, "4:cpu,cpuacct:/\n0::/\n", first() + second(), files)
    assert threads.quota(root) == 2


def test_no_proc_is_no_limit(tmp_path):
    """Systems without /proc have no control groups to ask."""
    assert threads.quota(tmp_path) is None


def test_a_quota_bounds_threads_and_whoever_says_how_many_is_heard(monkeypatch):
    """The tighter of affinity and quota; the variable and the argument go before both."""
    monkeypatch.delenv("LINEAL_NUM_THREADS", raising=False)
    monkeypatch.setattr(threads.os, "sched_getaffinity", lambda _: set(range(8)), raising=False)
    for granted, wanted in ((3, 3), (20, 8), (None, 8)):
        monkeypatch.setattr(threads, "quota", lambda granted=granted: granted)
        monkeypatch.setattr(threads, "_seen", None)
        assert thread_count(None) == wanted
    monkeypatch.setattr(threads, "quota", lambda: 1)
    monkeypatch.setattr(threads, "_seen", None)
    assert thread_count(5) == 5
    monkeypatch.setenv("LINEAL_NUM_THREADS", "4")
    assert thread_count(None) == 4


def test_the_quota_is_not_read_for_every_fit(monkeypatch):
    """What was read is kept for some seconds, and read again after them: a quota can be changed."""
    monkeypatch.delenv("LINEAL_NUM_THREADS", raising=False)
    monkeypatch.setattr(threads.os, "sched_getaffinity", lambda _: set(range(8)), raising=False)
    monkeypatch.setattr(threads, "_seen", None)
    now, answers = [0.0], [2, 6]
    monkeypatch.setattr(threads.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(threads, "quota", lambda: answers.pop(0))
    assert [thread_count(None) for _ in range(3)] == [2, 2, 2]
    now[0] = 60.0
    assert [thread_count(None) for _ in range(3)] == [6, 6, 6]
