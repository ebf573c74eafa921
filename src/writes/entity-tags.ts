import { PreconditionFailedError } from './writes.errors.js';

/** What `If-Match` lists (RFC 9110 section 13.1.1): `*`, or the strong tags among them. */
export type EntityTags = '*' | ReadonlySet<string>;

/** More than 40 tags of ours. */
const MAX_LENGTH = 1000;
const LIST =
  /^[ \t,]*(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"(?:[ \t]*,(?:[ \t]*(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*")?)*[ \t]*$/;
const TAG = /(W\/)?("[^"]*")/g;

/** undefined for text that is no `If-Match`; weak tags match nothing, since the comparison is strong */
export function parseIfMatch(text: string): EntityTags | undefined {
  if (text === '*') return text;
  if (text.length > MAX_LENGTH || !LIST.test(text)) return undefined;
  return new Set([...text.matchAll(TAG)].filter(([, weak]) => weak === undefined).map(([, , tag]) => tag!));
}

/** Strong: an organization has each revision once. */
export function entityTag(revision: number): string {
  return `"${revision}"`;
}

/** @throws PreconditionFailedError */
export function requireMatch({ ifMatch }: { ifMatch?: EntityTags }, revision: number): void {
  if (ifMatch !== undefined && ifMatch !== '*' && !ifMatch.has(entityTag(revision)))
    throw new PreconditionFailedError();
}
