import type { Rules } from './accounts.ts';
import { type History, runHistory } from './history.ts';

/** Cuts steps and numbers, and makes numbers smaller, while the history breaks the same invariant. */
export async function shrink(found: History, drawn: number[][], rules: Rules): Promise<History> {
  let history = found;
  let steps = drawn;
  const isKept = async (fewer: number[][]): Promise<boolean> => {
    const other = await runHistory(fewer, rules);
    if (other.violation?.invariant !== found.violation?.invariant) return false;
    [history, steps] = [other, fewer];
    return true;
  };
  for (let before; before !== steps;) {
    before = steps;
    for (const size of [8, 4, 2, 1])
      for (let at = steps.length - size; at > 0; at -= 1) await isKept(steps.toSpliced(at, size));
    for (let at = steps.length - 1; at >= 0; at -= 1) {
      for (let length = 0; length < steps[at]!.length; length = 2 * length + 1)
        if (await isKept(steps.with(at, steps[at]!.slice(0, length)))) break;
      for (let index = steps[at]!.length - 1; index >= 0; index -= 1) {
        const number = steps[at]![index]!;
        for (const smaller of [0, 1, number >> 1])
          if (smaller < number && (await isKept(steps.with(at, steps[at]!.with(index, smaller))))) break;
      }
    }
  }
  return history;
}
