"""Standard-input problems about times, dates and money."""

from vpo_envs.code.bank.entry import stdin_entry

ENTRIES = (
    stdin_entry(
        "later_time",
        "easy",
        """
        Read a time of day hh:mm (00:00 to 23:59) and a number of minutes (-10000 to 10000) on one line. Print the
        time of day so many minutes later, or earlier if the number is negative, in the same form.
        """,
        """
        09:50 15 => 10:05
        23:30 45 => 00:15
        00:00 0 => 00:00
        12:00 -30 => 11:30
        00:10 -20 => 23:50
        08:05 2 => 08:07
        10:00 1440 => 10:00
        06:15 3000 => 08:15
        05:55 5 => 06:00
        13:45 60 => 14:45
        22:00 -1500 => 21:00
        """,
        reference="""
        time, minutes = input().split()
        total = (int(time[:2]) * 60 + int(time[3:]) + int(minutes)) % 1440
        print(f"{total // 60:02}:{total % 60:02}")
        """,
        partial=[
            """
            time, minutes = input().split()
            total = (int(time[:2]) * 60 + int(time[3:]) + int(minutes)) % 1440
            print(f"{total // 60}:{total % 60}")
            """,
            """
            time, minutes = input().split()
            hour, minute = map(int, time.split(":"))
            minute += int(minutes)
            if minute >= 60:
                minute -= 60
                hour += 1
            if hour == 24:
                hour = 0
            print(f"{hour:02}:{minute:02}")
            """,
            """
            time, minutes = input().split()
            total = int(time[:2]) * 60 + int(time[3:]) + int(minutes)
            print(f"{total // 60:02}:{total % 60:02}")
            """,
        ],
    ),
    stdin_entry(
        "share_bill",
        "medium",
        """
        Read an amount of money such as 12.30 (0.00 to 1000000.00, always two decimals) and a number of people (1 to
        100) on one line. They pay in whole cents, as equally as possible, and those who pay a cent more come first.
        Print what the first and what the last of them pays, with two decimals.
        """,
        """
        10.00 3 => 3.34 3.33
        9.00 3 => 3.00 3.00
        0.00 4 => 0.00 0.00
        0.02 3 => 0.01 0.00
        5.05 1 => 5.05 5.05
        0.30 2 => 0.15 0.15
        1.00 8 => 0.13 0.12
        12.34 5 => 2.47 2.46
        1000000.00 7 => 142857.15 142857.14
        100.10 10 => 10.01 10.01
        0.07 100 => 0.01 0.00
        """,
        reference="""
        amount, people = input().split()
        cents, people = int(amount.replace(".", "")), int(people)
        for share in (-(-cents // people), cents // people):
            print(f"{share // 100}.{share % 100:02}", end=" ")
        print()
        """,
        partial=[
            """
            amount, people = input().split()
            share = float(amount) / int(people)
            print(f"{share:.2f} {share:.2f}")
            """,
            """
            amount, people = input().split()
            cents, people = int(amount.replace(".", "")), int(people)
            share = cents // people
            first = share + 1
            print(f"{first / 100:.2f} {share / 100:.2f}")
            """,
            """
            amount, people = input().split()
            cents, people = int(amount.replace(".", "")), int(people)
            last = cents // people
            first = last + cents % people
            print(f"{first // 100}.{first % 100:02} {last // 100}.{last % 100:02}")
            """,
        ],
    ),
    stdin_entry(
        "parking_fee",
        "hard",
        """
        Parking costs 2 for each hour begun from 08:00 to 20:00 and 1 for each hour begun outside that time, where
        hours are counted from the moment of arrival and an hour costs what it costs at its first minute; at most 15
        for each 24 hours from arrival. Up to 15 minutes in all are free. Read arrival and departure on one line, each
        as a day number and a time, d hh:mm; departure is not before arrival. 08:00 belongs to the dear time, 20:00
        does not. Print the fee.
        """,
        """
        1 09:00 1 11:00 => 4
        1 09:00 1 09:10 => 0
        1 09:00 1 09:15 => 0
        1 09:00 1 09:16 => 2
        1 09:00 1 10:01 => 4
        1 19:30 1 21:00 => 3
        1 20:00 1 22:00 => 2
        1 22:00 2 01:00 => 3
        1 07:30 1 08:45 => 3
        1 08:00 1 20:00 => 15
        1 09:00 2 09:00 => 15
        1 09:00 2 10:00 => 17
        3 23:00 4 02:30 => 4
        1 08:00 4 08:00 => 45
        """,
        reference="""
        d1, t1, d2, t2 = input().split()

        def minutes(day, time):
            return int(day) * 1440 + int(time[:2]) * 60 + int(time[3:])

        start, end = minutes(d1, t1), minutes(d2, t2)
        total = fee = 0
        if end - start > 15:
            for i, begun in enumerate(range(start, end, 60)):
                if i % 24 == 0:
                    total, fee = total + fee, 0
                fee = min(15, fee + (2 if 480 <= begun % 1440 < 1200 else 1))
        print(total + fee)
        """,
        partial=[
            """
            d1, t1, d2, t2 = input().split()
            start = int(d1) * 1440 + int(t1[:2]) * 60 + int(t1[3:])
            end = int(d2) * 1440 + int(t2[:2]) * 60 + int(t2[3:])
            fee = 0
            while start < end:
                fee += 2 if 480 <= start % 1440 <= 1200 else 1
                start += 60
            print(min(fee, 15))
            """,
            """
            d1, t1, d2, t2 = input().split()
            start = int(d1) * 1440 + int(t1[:2]) * 60 + int(t1[3:])
            end = int(d2) * 1440 + int(t2[:2]) * 60 + int(t2[3:])
            fee = 0
            if end - start >= 15:
                for begun in range(start, end, 60):
                    fee += 2 if 480 <= begun % 1440 < 1200 else 1
            print(fee)
            """,
            """
            d1, t1, d2, t2 = input().split()
            start = int(t1[:2]) * 60 + int(t1[3:])
            end = int(t2[:2]) * 60 + int(t2[3:])
            fee = 0
            if end - start > 15:
                hours = (end - start) // 60
                for i in range(hours):
                    fee += 2 if 8 <= start // 60 + i < 20 else 1
            print(min(15, fee))
            """,
        ],
    ),
)
