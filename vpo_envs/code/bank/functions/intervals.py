"""Function problems about intervals of time or of a line."""

from vpo_envs.code.bank.entry import call_entry

ENTRIES = (
    call_entry(
        "covers",
        "easy",
        "covers(spans: list[list[int]], point: int) -> int",
        """
        Each span is [start, end] and covers the whole numbers from start up to but without end. Return how many spans
        cover the point. A span whose end is not above its start covers nothing.
        """,
        """
        [[1, 4], [3, 8]], 3 => 2
        [[1, 4]], 4 => 0
        [], 5 => 0
        [[2, 6]], 2 => 1
        [[5, 5]], 5 => 0
        [[1, 4], [4, 9]], 4 => 1
        [[6, 2]], 3 => 0
        [[-3, 0]], -1 => 1
        [[0, 10], [0, 10], [9, 10]], 9 => 3
        [[8, 9]], 7 => 0
        """,
        reference="""
        def covers(spans, point):
            return sum(start <= point < end for start, end in spans)
        """,
        partial=[
            """
            def covers(spans, point):
                return sum(start <= point <= end for start, end in spans)
            """,
            """
            def covers(spans, point):
                return sum(start < point < end for start, end in spans)
            """,
            """
            def covers(spans, point):
                return int(any(min(span) <= point < max(span) for span in spans))
            """,
        ],
    ),
    call_entry(
        "free_time",
        "medium",
        "free_time(meetings: list[list[int]], day: list[int]) -> int",
        """
        Meetings are [start, end] in minutes, in any order, and may overlap one another and reach beyond the day
        [start, end]. Return the length of the longest stretch of the day without a meeting.
        """,
        """
        [[60, 90]], [0, 200] => 110
        [[10, 20], [50, 60]], [0, 60] => 30
        [], [0, 480] => 480
        [[0, 100]], [0, 100] => 0
        [[50, 60], [10, 20]], [0, 60] => 30
        [[0, 50], [10, 20]], [0, 60] => 10
        [[0, 300]], [100, 200] => 0
        [[20, 30]], [0, 30] => 20
        [[300, 400]], [0, 200] => 200
        [[0, 10], [5, 40]], [0, 100] => 60
        [[90, 120]], [0, 100] => 90
        """,
        reference="""
        def free_time(meetings, day):
            now, stop = day
            best = 0
            for start, end in sorted(meetings):
                best = max(best, min(start, stop) - now)
                now = max(now, end)
            return max(best, stop - now)
        """,
        partial=[
            """
            def free_time(meetings, day):
                now, stop = day
                best = 0
                for start, end in sorted(meetings):
                    best = max(best, start - now)
                    now = end
                return max(best, stop - now)
            """,
            """
            def free_time(meetings, day):
                now, stop = day
                best = 0
                for start, end in sorted(meetings):
                    best = max(best, min(start, stop) - now)
                    now = max(now, end)
                return best
            """,
            """
            def free_time(meetings, day):
                now, stop = day
                best = 0
                for start, end in meetings:
                    best = max(best, start - now)
                    now = max(now, end)
                return max(best, stop - now)
            """,
        ],
    ),
    call_entry(
        "most_visits",
        "hard",
        "most_visits(visits: list[list[int]]) -> int",
        """
        Each visit [open, close] can be made if you are there from open to close; a visit may begin at the moment at
        which another ends. Return how many visits one person can make at most. Open is below close.
        """,
        """
        [[1, 3], [2, 4], [3, 5]] => 2
        [[1, 10], [2, 3], [4, 5]] => 2
        [] => 0
        [[5, 6]] => 1
        [[1, 2], [2, 3], [3, 4]] => 3
        [[1, 4], [1, 2], [2, 4]] => 2
        [[6, 9], [1, 5], [4, 7]] => 2
        [[1, 5], [4, 7], [6, 10]] => 2
        [[0, 4], [3, 5], [4, 9]] => 2
        [[7, 8], [5, 6], [1, 2]] => 3
        [[1, 2], [1, 2]] => 1
        """,
        reference="""
        def most_visits(visits):
            count, now = 0, None
            for start, end in sorted(visits, key=lambda visit: visit[1]):
                if now is None or start >= now:
                    count, now = count + 1, end
            return count
        """,
        partial=[
            """
            def most_visits(visits):
                count, now = 0, None
                for start, end in sorted(visits):
                    if now is None or start >= now:
                        count, now = count + 1, end
                return count
            """,
            """
            def most_visits(visits):
                count, now = 0, -1
                for start, end in sorted(visits, key=lambda visit: visit[1]):
                    if start > now:
                        count, now = count + 1, end
                return count
            """,
            """
            def most_visits(visits):
                chosen = []
                for start, end in sorted(visits, key=lambda visit: visit[1] - visit[0]):
                    if all(end <= s or start >= e for s, e in chosen):
                        chosen.append((start, end))
                return len(chosen)
            """,
        ],
    ),
)
