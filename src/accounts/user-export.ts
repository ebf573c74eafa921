import { Injectable } from '@nestjs/common';
import { userJson } from '../users/user-json.js';
import { UserParts } from '../users/user-parts.js';
import type { UserProfile } from '../users/users.repository.js';

/** The members of a JSON object, in order. Long lists are async iterables, so that memory never holds all of one. */
type DocumentParts = Record<string, string | object | AsyncIterable<object>>;

/** @param newLine separates members and elements; empty if the document has to be one line */
export async function* documentText(parts: DocumentParts, newLine: string): AsyncGenerator<string> {
  let separator = '{';
  for (const [name, value] of Object.entries(parts)) {
    yield `${separator}${newLine}${JSON.stringify(name)}:`;
    if (isList(value)) yield* listText(value, newLine);
    else yield JSON.stringify(value);
    separator = ',';
  }
  yield `${newLine}}\n`;
}

async function* listText(list: AsyncIterable<object>, newLine: string): AsyncGenerator<string> {
  let separator = '[';
  for await (const element of list) {
    yield `${separator}${newLine}${JSON.stringify(element)}`;
    separator = ',';
  }
  yield separator === '[' ? '[]' : `${newLine}]`;
}

function isList(value: DocumentParts[string]): value is AsyncIterable<object> {
  return typeof value === 'object' && Symbol.asyncIterator in value;
}

/** Joins short texts, each of which would be a packet of its own. */
export async function* inPieces(texts: AsyncIterable<string>, length: number): AsyncGenerator<string> {
  let piece = '';
  for await (const text of texts) {
    piece += text;
    if (piece.length < length) continue;
    yield piece;
    piece = '';
  }
  if (piece !== '') yield piece;
}

/** All data about one user, to answer an access request: no secret, and nothing about others. */
@Injectable()
export class UserExport {
  constructor(private readonly parts: UserParts) {}

  documentOf(user: UserProfile): DocumentParts {
    const lists = Object.entries(this.parts.exported.named());
    return {
      exportedAt: new Date().toISOString(),
      account: userJson(user),
      ...Object.fromEntries(lists.map(([name, rows]) => [name, rows.of(user)])),
    };
  }
}
