/** Which items go without when as many as possible get a partner of their own (Kuhn's algorithm). */
export function unmatched<Item extends object>(
  items: readonly Item[],
  partnersOf: (item: Item) => readonly object[],
): Item[] {
  const taken = new Map<object, Item>();
  const findPartner = (item: Item, asked: Set<object>): boolean => {
    for (const partner of partnersOf(item)) {
      if (asked.has(partner)) continue;
      asked.add(partner);
      const holder = taken.get(partner);
      if (holder === undefined || findPartner(holder, asked)) {
        taken.set(partner, item);
        return true;
      }
    }
    return false;
  };
  return items.filter((item) => !findPartner(item, new Set()));
}
