import type { Result } from './results.ts';

interface Page {
  nextCursor?: string;
}
type List<Input, Data, Problem, Options> = (
  input: Input,
  options?: Options,
) => Promise<Result<Data, Problem>>;

/** Yields one page after another, up to the last page or the first failure. */
export async function* pages<Input, Data extends Page, Problem, Options>(
  list: List<Input, Data, Problem, Options>,
  input: Input,
  options?: Options,
): AsyncGenerator<Result<Data, Problem>, void> {
  for (let cursor: string | undefined; ;) {
    const page = await list(cursor === undefined ? input : { ...input, cursor }, options);
    yield page;
    if (!page.ok || page.data.nextCursor === undefined) return;
    cursor = page.data.nextCursor;
  }
}
