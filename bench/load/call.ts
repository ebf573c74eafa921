import type { HttpResponse } from './http-response.ts';

export interface Call {
  request: string;
  /** @throws WrongAnswer */
  accept(response: HttpResponse): void;
}

/** Creates the next request; undefined when its material has run out. */
export type Operation = () => Call | undefined;

/** In the order of a round: a code is issued before it is exchanged, a member added before it is removed. */
export const OPERATIONS = [
  'register',
  'login',
  'second step',
  'refresh',
  'refresh and use',
  'me',
  'issue code',
  'exchange code',
  'create organization',
  'organization of 20',
  'list of 20',
  'organization of 1,000',
  'list of 1,000',
  'add member',
  'change role',
  'remove member',
  'invite',
  'accept invitation',
] as const;

export type OperationName = (typeof OPERATIONS)[number];

/** Some stand in the table beside the baseline, and some in other tables only. */
export type DrivableName = OperationName | 'first page of 20' | 'whole list' | 'mix';
