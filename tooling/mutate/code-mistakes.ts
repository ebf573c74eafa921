import ts from 'typescript';
import type { Mistake } from './mistake.ts';

const SWAPPED = new Map<ts.SyntaxKind, string>([
  [ts.SyntaxKind.LessThanToken, '<='],
  [ts.SyntaxKind.LessThanEqualsToken, '<'],
  [ts.SyntaxKind.GreaterThanToken, '>='],
  [ts.SyntaxKind.GreaterThanEqualsToken, '>'],
  [ts.SyntaxKind.EqualsEqualsEqualsToken, '!=='],
  [ts.SyntaxKind.ExclamationEqualsEqualsToken, '==='],
  [ts.SyntaxKind.PlusToken, '-'],
  [ts.SyntaxKind.MinusToken, '+'],
  [ts.SyntaxKind.AsteriskToken, '/'],
  [ts.SyntaxKind.SlashToken, '*'],
]);

const EQUATIONS = new Set([
  ts.SyntaxKind.EqualsEqualsEqualsToken,
  ts.SyntaxKind.ExclamationEqualsEqualsToken,
]);

const CLAUSES = new Set([
  ts.SyntaxKind.AmpersandAmpersandToken,
  ts.SyntaxKind.BarBarToken,
  ts.SyntaxKind.QuestionQuestionToken,
]);

/** Conditions and boundaries, dropped statements, clauses and decorators, numbers, booleans. */
export function codeMistakes(node: ts.Node, file: ts.SourceFile): Mistake[] {
  const replace = (part: ts.Node, text: string): Mistake => ({
    start: part.getStart(file),
    end: part.getEnd(),
    text,
  });
  if (ts.isBinaryExpression(node)) return ofOperator(node, file, replace);
  if (ts.isIfStatement(node) || ts.isWhileStatement(node)) return negated(node.expression, file, replace);
  if (ts.isConditionalExpression(node)) return negated(node.condition, file, replace);
  if (ts.isExpressionStatement(node) || ts.isThrowStatement(node)) return [replace(node, ';')];
  if (ts.isAwaitExpression(node)) return [replace(node, node.expression.getText(file))];
  if (ts.isDecorator(node) && !ts.isParameter(node.parent)) return [replace(node, '')];
  if (ts.isNumericLiteral(node)) return [replace(node, otherNumber(node))];
  if (node.kind === ts.SyntaxKind.TrueKeyword) return [replace(node, 'false')];
  if (node.kind === ts.SyntaxKind.FalseKeyword) return [replace(node, 'true')];
  return [];
}

type Replace = (part: ts.Node, text: string) => Mistake;

function ofOperator(node: ts.BinaryExpression, file: ts.SourceFile, replace: Replace): Mistake[] {
  const { operatorToken, left, right } = node;
  const other = SWAPPED.get(operatorToken.kind);
  if (other !== undefined) return [replace(operatorToken, other)];
  if (!CLAUSES.has(operatorToken.kind)) return [];
  return [replace(node, left.getText(file)), replace(node, right.getText(file))];
}

function negated(condition: ts.Expression, file: ts.SourceFile, replace: Replace): Mistake[] {
  const text = condition.getText(file);
  if (ts.isPrefixUnaryExpression(condition)) return [replace(condition, condition.operand.getText(file))];
  const isEquation = ts.isBinaryExpression(condition) && EQUATIONS.has(condition.operatorToken.kind);
  return isEquation ? [] : [replace(condition, `!(${text})`)];
}

function otherNumber({ text }: ts.NumericLiteral): string {
  return Number(text) < 2 ? String(1 - Number(text)) : String(Number(text) * 2);
}
