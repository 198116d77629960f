"""Function problems about things that are connected: friends, roads, families, tasks."""

from vpo_envs.code.bank.entry import call_entry

ENTRIES = (
    call_entry(
        "generations",
        "easy",
        "generations(mother: dict[str, str], name: str) -> int",
        """
        The dictionary gives the mother of each person by name, as far as she is known. Return how many ancestors can
        be named by going from the person to her or his mother, to her mother, and so on.
        """,
        """
        {'eve': 'ann', 'ann': 'ida'}, 'eve' => 2
        {'eve': 'ann'}, 'ann' => 0
        {}, 'zoe' => 0
        {'a': 'b'}, 'a' => 1
        {'a': 'b', 'b': 'c', 'c': 'd'}, 'a' => 3
        {'a': 'b', 'b': 'c', 'c': 'd'}, 'c' => 1
        {'a': 'z', 'b': 'z'}, 'b' => 1
        {'a': 'b', 'x': 'y', 'y': 'w'}, 'a' => 1
        {'m': 'n', 'n': 'o'}, 'q' => 0
        {'d': 'e', 'c': 'd', 'b': 'c', 'a': 'b'}, 'a' => 4
        """,
        reference="""
        def generations(mother, name):
            count = 0
            while name in mother:
                name = mother[name]
                count += 1
            return count
        """,
        partial=[
            """
            def generations(mother, name):
                return len(mother)
            """,
            """
            def generations(mother, name):
                if name not in mother:
                    return 0
                return 2 if mother[name] in mother else 1
            """,
            """
            def generations(mother, name):
                count = 0
                for child, parent in mother.items():
                    if child == name:
                        count += 1
                        name = parent
                return count
            """,
        ],
    ),
    call_entry(
        "tree_depth",
        "medium",
        "tree_depth(tree: list) -> int",
        """
        A tree is [value, child, child, ...], where each child is again a tree; the empty list is no tree at all.
        Return the largest number of values on a way from the top down. Children that are empty lists do not count.
        """,
        """
        [1, [2], [3, [4]]] => 3
        [1] => 1
        [] => 0
        [1, [2]] => 2
        [1, []] => 1
        [1, [2, [3, [4]]], [5]] => 4
        [1, [], [2, []]] => 2
        [1, [2], [3], [4], [5]] => 2
        [1, [2], [3], [4, [5, [6]]]] => 4
        [7, [7, [7]]] => 3
        """,
        reference="""
        def tree_depth(tree):
            return 1 + max(map(tree_depth, tree[1:]), default=0) if tree else 0
        """,
        partial=[
            """
            def tree_depth(tree):
                if len(tree) == 1:
                    return 1
                return 1 + max(tree_depth(child) for child in tree[1:])
            """,
            """
            def tree_depth(tree):
                if not tree:
                    return 0
                left = tree[1] if len(tree) > 1 else []
                right = tree[2] if len(tree) > 2 else []
                return 1 + max(tree_depth(left), tree_depth(right))
            """,
            """
            def tree_depth(tree):
                if len(tree) < 2:
                    return len(tree)
                return 1 + tree_depth(tree[1])
            """,
        ],
    ),
    call_entry(
        "task_order",
        "hard",
        "task_order(needs: dict[str, list[str]]) -> list[str]",
        """
        The dictionary says for each task which tasks must be done before it; a task that is only named in such a list
        needs nothing. Return an order in which all tasks can be done: always next the task that comes first in the
        alphabet among those whose needs are met. If some tasks wait for each other for ever, return [].
        """,
        """
        {'b': ['a'], 'a': []} => ['a', 'b']
        {'x': [], 'm': [], 'z': []} => ['m', 'x', 'z']
        {} => []
        {'a': ['b'], 'b': ['a']} => []
        {'a': ['c'], 'b': []} => ['b', 'c', 'a']
        {'a': ['b'], 'b': ['c'], 'c': []} => ['c', 'b', 'a']
        {'s': ['s']} => []
        {'d': ['b', 'c'], 'b': ['a'], 'c': ['a']} => ['a', 'b', 'c', 'd']
        {'a': ['z'], 'b': ['y']} => ['y', 'b', 'z', 'a']
        {'p': [], 'q': ['r'], 'r': ['q']} => []
        {'k': ['j', 'j'], 'j': []} => ['j', 'k']
        """,
        reference="""
        def task_order(needs):
            left = {task: set(before) for task, before in needs.items()}
            for before in needs.values():
                for task in before:
                    left.setdefault(task, set())
            order = []
            while left:
                ready = [task for task, before in left.items() if before <= set(order)]
                if not ready:
                    return []
                order.append(min(ready))
                del left[min(ready)]
            return order
        """,
        partial=[
            """
            def task_order(needs):
                order = []
                while len(order) < len(needs):
                    ready = [t for t in sorted(needs) if t not in order and all(b in order for b in needs[t])]
                    if not ready:
                        return []
                    order.append(ready[0])
                return order
            """,
            """
            def task_order(needs):
                order = []

                def visit(task):
                    for before in sorted(needs.get(task, [])):
                        visit(before)
                    if task not in order:
                        order.append(task)

                for task in sorted(needs):
                    visit(task)
                return order
            """,
            """
            def task_order(needs):
                tasks = set(needs) | {b for before in needs.values() for b in before}
                order = []
                while tasks:
                    ready = sorted(t for t in tasks if all(b in order for b in needs.get(t, [])))
                    order += ready
                    tasks -= set(ready)
                    if not ready:
                        break
                return order
            """,
        ],
    ),
)
