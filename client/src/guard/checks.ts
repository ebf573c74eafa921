import type { ServerResponse } from 'node:http';
import type { Role } from '../api.gen.ts';
import type { Admission, Guard, KeyAdmission, ServiceAdmission } from '../service/guard.ts';
import { revisionOf } from '../service/own-revision.ts';
import { type Refusal, unauthorized } from '../service/refusal.ts';
import { type Answer, refusal } from './answers.ts';
import type { Requirement } from './requirement-of.ts';

export interface GuardHeaders {
  authorization: string[];
  revision: string[];
  forwarded: string[];
  hasBody: boolean;
}

/** Reads what Node received, because Node itself takes the first of two `Authorization` headers. */
export function headersOf(raw: readonly string[]): GuardHeaders {
  const headers: GuardHeaders = { authorization: [], revision: [], forwarded: [], hasBody: false };
  for (let index = 0; index < raw.length; index += 2) {
    const name = raw[index]!.toLowerCase();
    const value = raw[index + 1]!;
    if (name === 'authorization') headers.authorization.push(value);
    else if (name === 'accounts-revision') headers.revision.push(value);
    else if (name === 'x-forwarded-uri') headers.forwarded.push(value);
    else if (name === 'transfer-encoding') headers.hasBody = true;
    else if (name === 'content-length') headers.hasBody ||= Number(value) !== 0;
  }
  return headers;
}

/** Decides on a check as the library does on a route. */
export async function check(
  required: Requirement,
  { authorization: [authorization, ...further], revision }: GuardHeaders,
  response: ServerResponse,
  guard: Guard,
): Promise<Answer> {
  if (further.length > 0) return refusal(unauthorized());
  // The guard takes its short way only without options.
  if (required === 'any user') return answerOf(await guard.authorize(authorization));
  const signal = signalOf(response);
  if ('from' in required)
    return answerOf(await guard.authorizeService(authorization, { ...required, signal }));
  if (!('orgId' in required)) return answerOf(await guard.authorize(authorization, { ...required, signal }));
  const { orgId } = required;
  const atLeast = revisionOf(revision, orgId);
  return answerOf(await guard.authorize(authorization, { ...required, atLeast, signal }), orgId);
}

/** Ends the wait for a client that has left. */
function signalOf(response: ServerResponse): AbortSignal {
  const left = new AbortController();
  response.once('close', () => response.writableFinished || left.abort());
  return left.signal;
}

type Decided = ((Admission | KeyAdmission) & { role?: Role }) | ServiceAdmission | Refusal;

function answerOf(decided: Decided, org?: string): Answer {
  if (!decided.ok) return refusal(decided);
  // All headers are always sent, because a proxy would pass on the client's own in place of an absent one.
  const headers = {
    'X-Accounts-User': '',
    'X-Accounts-Session': '',
    'X-Accounts-Amr': '',
    'X-Accounts-Org': '',
    'X-Accounts-Role': '',
    'X-Accounts-Via': '',
    'X-Accounts-Key': '',
    'X-Accounts-Service': '',
  };
  if ('service' in decided) {
    const { service } = decided;
    headers['X-Accounts-Service'] = service.name;
    return { status: 200, headers, body: { service } };
  }
  const { user, session, key, via } = decided;
  headers['X-Accounts-User'] = user.id;
  headers['X-Accounts-Session'] = session?.id ?? '';
  headers['X-Accounts-Amr'] = session?.amr.join() ?? '';
  headers['X-Accounts-Via'] = via.join();
  headers['X-Accounts-Key'] = key?.id ?? '';
  const body = key ? { user, key } : { user, session };
  const { role } = decided;
  if (org === undefined || role === undefined) return { status: 200, headers, body };
  headers['X-Accounts-Org'] = org;
  headers['X-Accounts-Role'] = role;
  return { status: 200, headers, body: { ...body, org, role } };
}
