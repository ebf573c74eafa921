import ts from 'typescript';

const ERROR_CLASS = /(?:Error|Problem|Exception)$/;
const ONLY_ERRORS = /(?:\.errors|problem-codes)\.ts$/;
const INLINE_CODE = /`[^`\n]*`/g;

/**
 * Blanks out everything of a TypeScript file but its comments and the texts of its errors and problems. Lines and columns
 * stay, so that a linter of prose reports the position in the file.
 */
export function proseOf(path: string, source: string): string {
  const file = ts.createSourceFile(path, source, ts.ScriptTarget.Latest, true);
  const prose = [...commentsOf(file), ...errorTextsOf(file)];
  const blank = (text: string): string => text.replaceAll(/[^\n]/g, ' ');
  let result = '';
  for (const [start, end] of prose.toSorted(([a], [b]) => a - b)) {
    if (start < result.length) continue;
    result += blank(source.slice(result.length, start)) + source.slice(start, end);
  }
  return (result + blank(source.slice(result.length))).replaceAll(INLINE_CODE, blank);
}

type Range = [start: number, end: number];

/** The comments of a file, without the two characters that begin each. */
export function commentsOf(file: ts.SourceFile): Range[] {
  const source = file.text;
  const ranges = new Map<number, Range>();
  const visit = (node: ts.Node): void => {
    if (node.getChildCount(file) > 0) return node.getChildren(file).forEach(visit);
    const found = [
      ...(ts.getLeadingCommentRanges(source, node.getFullStart()) ?? []),
      ...(ts.getTrailingCommentRanges(source, node.getEnd()) ?? []),
    ];
    for (const { pos, end } of found) ranges.set(pos, [pos + 2, end]);
  };
  visit(file);
  return [...ranges.values()];
}

function errorTextsOf(file: ts.SourceFile): Range[] {
  const ranges: Range[] = [];
  const visit = (node: ts.Node, inError: boolean): void => {
    if (inError && (ts.isLiteralExpression(node) || ts.isTemplateMiddleOrTemplateTail(node))) {
      ranges.push([node.getStart(file) + 1, node.getEnd() - (ts.isTemplateMiddle(node) ? 2 : 1)]);
    }
    if (inError && ts.isTemplateHead(node)) ranges.push([node.getStart(file) + 1, node.getEnd() - 2]);
    const isError = inError || makesError(node, file) || isDetail(node, file);
    ts.forEachChild(node, (child) => visit(child, isError));
  };
  visit(file, ONLY_ERRORS.test(file.fileName));
  return ranges;
}

function makesError(node: ts.Node, file: ts.SourceFile): boolean {
  if (ts.isNewExpression(node)) return ERROR_CLASS.test(node.expression.getText(file));
  return ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.SuperKeyword;
}

/** The `detail` of a problem, or a call of the client's `refusal(…)`. */
function isDetail(node: ts.Node, file: ts.SourceFile): boolean {
  if (ts.isPropertyAssignment(node) || ts.isVariableDeclaration(node))
    return node.name.getText(file) === 'detail';
  return ts.isCallExpression(node) && node.expression.getText(file) === 'refusal';
}

const FENCED_CODE = /^(```|````)[\s\S]*?^\1$/gm;
const RELEASED = /^## \[?\d[\s\S]*/m;

/** Blanks out the code of a Markdown page, and the released sections of the changelog. */
export function proseOfPage(source: string): string {
  const blank = (text: string): string => text.replaceAll(/[^\n]/g, ' ');
  return source.replace(RELEASED, blank).replaceAll(FENCED_CODE, blank).replaceAll(INLINE_CODE, blank);
}

const TEXTS = /"(?:summary|description)": "((?:[^"\\]|\\.)*)"/g;

/** Blanks out everything of the OpenAPI document but summaries and descriptions. */
export function proseOfDocument(source: string): string {
  const blank = (text: string): string => text.replaceAll(/[^\n]/g, ' ');
  let result = '';
  for (const { 0: found, 1: text = '', index } of source.matchAll(TEXTS)) {
    const start = index + found.length - 1 - text.length;
    result += blank(source.slice(result.length, start)) + text.replaceAll('\\n', '  ');
  }
  return result.replaceAll(INLINE_CODE, blank);
}
