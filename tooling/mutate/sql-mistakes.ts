import ts from 'typescript';
import type { Mistake } from './mistake.ts';

const STATEMENT = /\b(?:SELECT|INSERT|UPDATE|DELETE|WHERE|AND|FROM)\b/;
const CONDITION = /\b(?:WHERE|AND|ON)\s+/g;
const KEYWORD = /^(?:AND|OR|WHERE|ORDER|GROUP|LIMIT|FOR|SELECT|FROM|JOIN|LEFT|UNION|SET|RETURNING)\b/;

const SHIFTED: [RegExp, string][] = [
  [/ < /g, ' <= '],
  [/ <= /g, ' < '],
  [/ > /g, ' >= '],
  [/ >= /g, ' > '],
  [/ IS NULL\b/g, ' IS NOT NULL'],
  [/ IS NOT NULL\b/g, ' IS NULL'],
  [/ FOR UPDATE\b/g, ''],
];

/** SQL in string and template literals: conditions that always hold, shifted boundaries, a lock not taken. */
export function sqlMistakes(node: ts.Node, file: ts.SourceFile): Mistake[] {
  if (!ts.isStringLiteralLike(node) && !ts.isTemplateExpression(node)) return [];
  const sql = node.getText(file).slice(1, -1);
  if (!STATEMENT.test(sql)) return [];
  const offset = node.getStart(file) + 1;
  return [...alwaysTrue(sql), ...shifted(sql)].map(({ start, end, text }) => ({
    start: offset + start,
    end: offset + end,
    text,
  }));
}

/** A condition is dropped by making it always true, so that its placeholders stay. */
function alwaysTrue(sql: string): Mistake[] {
  return [...sql.matchAll(CONDITION)].map((match) => {
    const start = match.index + match[0].length;
    const condition = firstCondition(sql.slice(start));
    return { start, end: start + condition.length, text: `(1 = 1 OR ${condition})` };
  });
}

/** Up to the next keyword, or to the parenthesis that closes what it is in. */
function firstCondition(sql: string): string {
  let depth = 0;
  for (const { 0: token, index } of sql.matchAll(/[({]|[)}]|\w+/g)) {
    if (token === '(' || token === '{') depth += 1;
    else if (token === ')' || token === '}') depth -= 1;
    if (depth < 0 || (depth === 0 && KEYWORD.test(token))) return sql.slice(0, index).trimEnd();
  }
  return sql.trimEnd();
}

function shifted(sql: string): Mistake[] {
  return SHIFTED.flatMap(([pattern, text]) =>
    [...sql.matchAll(pattern)].map(({ 0: found, index }) => ({
      start: index,
      end: index + found.length,
      text,
    })),
  );
}
