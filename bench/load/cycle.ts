export function cycle<T>(items: readonly T[]): () => T {
  let at = 0;
  return () => {
    const item = items[at]!;
    at = (at + 1) % items.length;
    return item;
  };
}
