"""Standard-input problems about following instructions step by step."""

from vpo_envs.code.bank.entry import stdin_entry

ENTRIES = (
    stdin_entry(
        "robot_walk",
        "easy",
        """
        A robot stands on square 0 of a line with the squares -10 to 10. Read its moves on one line, which may be
        empty: L is a step to a smaller number, R to a larger one, H goes back to 0. A step off the line is not made.
        Print the square where it ends.
        """,
        """
        RRL => 1
        => 0
        L => -1
        RRHR => 1
        RRRRRRRRRRRRL => 9
        LLLLLLLLLLLL => -10
        LRLR => 0
        RRRH => 0
        HLL => -2
        LLLLLLLLLLLLLR => -9
        RRRRRRRRRRRR => 10
        """,
        reference="""
        place = 0
        for move in input():
            if move == "H":
                place = 0
            else:
                place = max(-10, min(10, place + (1 if move == "R" else -1)))
        print(place)
        """,
        partial=[
            """
            moves = input()
            print(moves.count("R") - moves.count("L"))
            """,
            """
            moves = input()
            place = 0
            for move in moves:
                if move == "R":
                    place += 1
                elif move == "L":
                    place -= 1
                else:
                    place = 0
            print(max(-10, min(10, place)))
            """,
            """
            place = 0
            for move in input():
                if move == "H":
                    place = 0
                elif move == "R" and place < 10:
                    place += 1
                elif move == "L" and place > 0:
                    place -= 1
            print(place)
            """,
        ],
    ),
    stdin_entry(
        "stack_machine",
        "medium",
        """
        Read words on one line: whole numbers and the words add, sub, mul, dup, swap. A number goes on a pile. add,
        sub and mul take the two uppermost numbers and put back their result (sub: the lower minus the upper one), dup
        puts the uppermost once more, swap exchanges the two uppermost. Print the pile from bottom to top with spaces
        between, or empty; print error instead if a word needs more numbers than there are.
        """,
        """
        2 3 add => 5
        7 2 sub => 5
        4 dup mul => 16
        1 2 swap => 2 1
        add => error
        1 dup => 1 1
        1 2 3 => 1 2 3
        5 mul => error
        3 -4 mul 2 sub => -14
        => empty
        1 2 add swap => error
        9 1 swap sub => -8
        """,
        reference="""
        NEEDS = {"add": 2, "sub": 2, "mul": 2, "dup": 1, "swap": 2}
        pile = []
        for word in input().split():
            if len(pile) < NEEDS.get(word, 0):
                print("error")
                break
            if word not in NEEDS:
                pile.append(int(word))
                continue
            b = pile.pop()
            if word == "dup":
                pile += [b, b]
                continue
            a = pile.pop()
            pile += {"add": [a + b], "sub": [a - b], "mul": [a * b], "swap": [b, a]}[word]
        else:
            print(*pile) if pile else print("empty")
        """,
        partial=[
            """
            pile = []
            for word in input().split():
                if word == "add":
                    pile.append(pile.pop() + pile.pop())
                elif word == "sub":
                    pile.append(pile.pop() - pile.pop())
                elif word == "mul":
                    pile.append(pile.pop() * pile.pop())
                elif word == "dup":
                    pile.append(pile[-1])
                elif word == "swap":
                    pile[-1], pile[-2] = pile[-2], pile[-1]
                else:
                    pile.append(int(word))
            print(*pile) if pile else print("empty")
            """,
            """
            pile = []
            try:
                for word in input().split():
                    if word.isdigit():
                        pile.append(int(word))
                    elif word == "dup":
                        pile.append(pile[-1])
                    else:
                        b, a = pile.pop(), pile.pop()
                        if word == "swap":
                            pile += [b, a]
                        else:
                            pile.append(a + b if word == "add" else a - b if word == "sub" else a * b)
                print(*pile)
            except IndexError:
                print("error")
            """,
            """
            pile = []
            try:
                for word in input().split():
                    if word in ("add", "sub", "mul"):
                        b, a = pile.pop(), pile.pop()
                        pile.append({"add": a + b, "sub": a - b, "mul": a * b}[word])
                    elif word == "dup":
                        pile.append(pile[-1])
                    elif word == "swap":
                        pile = pile[::-1]
                    else:
                        pile.append(int(word))
                print(pile[-1] if pile else "empty")
            except IndexError:
                print("error")
            """,
        ],
    ),
    stdin_entry(
        "cache_hits",
        "hard",
        """
        A store keeps at most k pages. Read k (0 <= k <= 100) on the first line and the pages that are asked for,
        whole numbers, on the second, which may be empty. A page that is in the store is a hit. One that is not is put
        in; if the store was full, the page that was asked for longest ago leaves it. With k = 0 nothing is kept.
        Print the number of hits and then the pages in the store, from the one asked for longest ago to the latest.
        """,
        """
        2|1 2 1 3 2 => 1 3 2
        3|1 2 3 => 0 1 2 3
        0|5 5 5 => 0
        2| => 0
        1|4 4 4 => 2 4
        3|1 2 3 1 4 => 1 3 1 4
        2|7 8 7 9 7 => 2 9 7
        4|1 1 2 2 => 2 1 2
        2|1 2 2 1 => 2 2 1
        2|1 2 3 1 => 0 3 1
        3|3 2 1 3 2 1 => 3 3 2 1
        2|5 6 5 5 7 6 => 2 7 6
        """,
        reference="""
        k = int(input())
        store, hits = [], 0
        for page in input().split():
            if page in store:
                hits += 1
                store.remove(page)
            store = (store + [page])[-k:] if k else []
        print(hits, *store)
        """,
        partial=[
            """
            k = int(input())
            store, hits = [], 0
            for page in input().split():
                if page in store:
                    hits += 1
                else:
                    if len(store) == k:
                        store.pop(0)
                    store.append(page)
            print(hits, *store)
            """,
            """
            k = int(input())
            store, hits = [], 0
            for page in input().split():
                if page in store:
                    hits += 1
                    store.remove(page)
                store.append(page)
                store = store[-k:]
            print(hits, *store)
            """,
            """
            k = int(input())
            pages = input().split()
            hits = sum(page in pages[max(0, i - k):i] for i, page in enumerate(pages))
            latest = list(dict.fromkeys(pages[::-1]))
            print(hits, *latest[:k][::-1])
            """,
        ],
    ),
)
