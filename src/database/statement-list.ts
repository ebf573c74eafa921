import { readFileSync } from 'node:fs';

/** MySQL's default format is a tree. MariaDB reads the format as a comment. */
export const EXPLAIN = { sqlite: 'EXPLAIN QUERY PLAN', mysql: 'EXPLAIN /*!80000 FORMAT=TRADITIONAL */' };

const LISTS = {
  sqlite: new URL('./statements.sqlite.txt', import.meta.url),
  mysql: new URL('./statements.mysql.txt', import.meta.url),
};
const READS = /^(?:SELECT|UPDATE|DELETE|INSERT (?!.* VALUES ))/;
/** Begins the reason why a statement may read a whole table or sort its rows. */
const REASON = ' -- ';

/** The statements that the tests have seen, one a line, with example values. `npm run statements` writes the lists. */
export function statementsByIndex(engine: keyof typeof LISTS): { sql: string; values: unknown[] }[] {
  return readFileSync(LISTS[engine], 'utf8')
    .split('\n')
    .filter((line) => READS.test(line) && !line.includes(REASON))
    .map((sql) => ({ sql, values: exampleValues(sql) }));
}

function exampleValues(sql: string): unknown[] {
  return Array.from(sql.matchAll(/(LIMIT|OFFSET)?\s*\?/g), ([, isCount]) => (isCount ? 1 : ''));
}
