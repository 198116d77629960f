"""Function problems about times, dates and money."""

from vpo_envs.code.bank.entry import call_entry

ENTRIES = (
    call_entry(
        "month_days",
        "easy",
        "month_days(year: int, month: int) -> int",
        """
        Return the number of days of a month (1 to 12) in the calendar of today. A year is a leap year if it is
        divisible by 4, except those divisible by 100, of which only those divisible by 400 are leap years.
        """,
        """
        2023, 4 => 30
        2024, 2 => 29
        2023, 2 => 28
        1900, 2 => 28
        2000, 2 => 29
        2023, 7 => 31
        2023, 8 => 31
        2023, 9 => 30
        2023, 12 => 31
        2100, 2 => 28
        2024, 11 => 30
        """,
        reference="""
        def month_days(year, month):
            leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
            return [31, 29 if leap else 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1]
        """,
        partial=[
            """
            def month_days(year, month):
                if month == 2:
                    return 29 if year % 4 == 0 else 28
                return 30 if month in (4, 6, 9, 11) else 31
            """,
            """
            def month_days(year, month):
                leap = year % 4 == 0 and year % 100 != 0
                return (29 if leap else 28) if month == 2 else 31 if month % 2 else 30
            """,
            """
            def month_days(year, month):
                return [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1]
            """,
        ],
    ),
    call_entry(
        "hand_angle",
        "medium",
        "hand_angle(time: str) -> float",
        """
        Return the smaller angle in degrees, 0 to 180, between the hour hand and the minute hand of a clock with
        twelve hours at the time "h:mm" or "hh:mm" (0:00 to 23:59). Both hands move evenly.
        """,
        """
        '3:00' => 90.0
        '12:30' => 165.0
        '0:00' => 0.0
        '9:00' => 90.0
        '6:00' => 180.0
        '1:05' => 2.5
        '15:00' => 90.0
        '23:00' => 30.0
        '10:10' => 115.0
        '21:30' => 105.0
        '2:20' => 50.0
        """,
        reference="""
        def hand_angle(time):
            hour, minute = map(int, time.split(":"))
            angle = abs(hour % 12 * 60 - minute * 11) / 2
            return min(angle, 360 - angle)
        """,
        partial=[
            """
            def hand_angle(time):
                hour, minute = map(int, time.split(":"))
                angle = abs(hour % 12 * 30 - minute * 6)
                return float(min(angle, 360 - angle))
            """,
            """
            def hand_angle(time):
                hour, minute = map(int, time.split(":"))
                return abs(hour % 12 * 60 - minute * 11) / 2
            """,
            """
            def hand_angle(time):
                hour, minute = int(time[0]), int(time[-2:])
                angle = abs(hour * 60 - minute * 11) / 2
                return min(angle, 360 - angle)
            """,
        ],
    ),
    call_entry(
        "settle_debts",
        "hard",
        "settle_debts(paid: dict[str, int]) -> list[list[str]]",
        """
        Friends paid whole amounts for a trip, whose total can be shared equally in whole amounts. Again and again,
        the one who owes most pays the one who is owed most as much as settles one of the two; of several, the one
        first in the alphabet. Return the payments in order, each as [from, to, amount as text].
        """,
        """
        {'ann': 30, 'bob': 10} => [['bob', 'ann', '10']]
        {'a': 9, 'b': 0, 'c': 0} => [['b', 'a', '3'], ['c', 'a', '3']]
        {} => []
        {'x': 5} => []
        {'p': 4, 'q': 4} => []
        {'c': 0, 'b': 0, 'a': 6} => [['b', 'a', '2'], ['c', 'a', '2']]
        {'a': 10, 'b': 8, 'c': 0, 'd': 2} => [['c', 'a', '5'], ['d', 'b', '3']]
        {'a': 0, 'b': 10, 'c': 2} => [['a', 'b', '4'], ['c', 'b', '2']]
        {'z': 8, 'y': 8, 'x': 2, 'w': 2} => [['w', 'y', '3'], ['x', 'z', '3']]
        {'a': 12, 'b': 1, 'c': 5, 'd': 6} => [['b', 'a', '5'], ['c', 'a', '1']]
        {'d': 7, 'e': 9, 'f': 0, 'g': 0} => [['f', 'e', '4'], ['g', 'd', '3'], ['g', 'e', '1']]
        """,
        reference="""
        def settle_debts(paid):
            if not paid:
                return []
            share = sum(paid.values()) // len(paid)
            open_sums = {name: amount - share for name, amount in sorted(paid.items())}
            payments = []
            while any(open_sums.values()):
                debtor = min(open_sums, key=open_sums.get)
                lender = max(open_sums, key=open_sums.get)
                amount = min(-open_sums[debtor], open_sums[lender])
                open_sums[debtor] += amount
                open_sums[lender] -= amount
                payments.append([debtor, lender, str(amount)])
            return payments
        """,
        partial=[
            """
            def settle_debts(paid):
                share = sum(paid.values()) // len(paid)
                left = {name: amount - share for name, amount in paid.items()}
                payments = []
                while any(left.values()):
                    debtor = min(left, key=left.get)
                    lender = max(left, key=left.get)
                    amount = min(-left[debtor], left[lender])
                    left[debtor] += amount
                    left[lender] -= amount
                    payments.append([debtor, lender, str(amount)])
                return payments
            """,
            """
            def settle_debts(paid):
                share = sum(paid.values()) // max(1, len(paid))
                rich = max(sorted(paid), key=paid.get, default=None)
                return [[name, rich, str(share - amount)] for name, amount in sorted(paid.items()) if amount < share]
            """,
            """
            def settle_debts(paid):
                if not paid:
                    return []
                share = sum(paid.values()) // len(paid)
                left = {name: amount - share for name, amount in sorted(paid.items())}
                payments = []
                for debtor in left:
                    for lender in left:
                        amount = min(-left[debtor], left[lender])
                        if amount > 0:
                            left[debtor] += amount
                            left[lender] -= amount
                            payments.append([debtor, lender, str(amount)])
                return payments
            """,
        ],
    ),
)
