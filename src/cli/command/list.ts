import type { Invocation, Report } from './definition.js';
import { optionalLimit } from './options.js';
import { type Services, withServices } from './services.js';

const PAGE = 500;

interface List<T> {
  /** Returns the page after an item, or the first page. */
  findPage: (after: T | undefined, limit: number) => Promise<T[]>;
  /** Filters where the database cannot; by default all items are shown. */
  isShown?: (item: T) => boolean;
  lineOf: (item: T) => string;
  jsonOf: (item: T) => object;
  /** text for an empty list */
  none: string;
}

/** Prints a list of any length: memory holds a page, and each statement is short. */
export async function printList<T>(
  invocation: Invocation,
  listOf: (services: Services) => List<T>,
): Promise<Report> {
  const limit = optionalLimit(invocation);
  return withServices(async (services) => {
    const { findPage, isShown = () => true, lineOf, jsonOf, none } = listOf(services);
    let shown = 0;
    for (let after: T | undefined; ;) {
      const page = await findPage(after, PAGE);
      for (const item of page.filter(isShown)) {
        if (shown === limit) return reportOf(`only the first ${limit} are shown`);
        await invocation.print(lineOf(item), jsonOf(item));
        shown += 1;
      }
      if (page.length < PAGE) return reportOf(shown === 0 ? none : undefined);
      after = page.at(-1);
    }
  });
}

function reportOf(note: string | undefined): Report {
  return { lines: note === undefined ? [] : [note], json: [] };
}
