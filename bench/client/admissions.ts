import { createClient, memoryStore } from '../../client/src/index.ts';
import { createGuard } from '../../client/src/service/index.ts';
import type { AdmissionName, Setup } from './protocol.ts';
import { succeeded } from './requests.ts';

const TOKENS = 200;

export type Admissions = Record<AdmissionName, (place: number) => Promise<void>>;

/** Tokens of one session, each of which the guard has seen before. */
export async function openAdmissions({ url, issuer, user, orgId, credentials }: Setup): Promise<Admissions> {
  const guard = createGuard({ issuer, audience: issuer, baseUrl: url, credentials });
  const tokens = await tokensOf(url, user);
  const admit = async (place: number, inOrg: boolean): Promise<void> => {
    const header = tokens[place % TOKENS];
    const answer = await (inOrg ? guard.authorize(header, { orgId }) : guard.authorize(header));
    if (!answer.ok) throw new Error(`refused: ${answer.problem.code}`, { cause: answer.cause });
  };
  for (let place = 0; place < TOKENS; place += 1) await admit(place, true);
  return { token: (place) => admit(place, false), 'token and role': (place) => admit(place, true) };
}

async function tokensOf(url: string, user: Setup['user']): Promise<string[]> {
  const client = createClient({ baseUrl: url, store: memoryStore() });
  succeeded(await client.login(user));
  const headers: string[] = [];
  while (headers.length < TOKENS) {
    headers.push(`Bearer ${succeeded(await client.refresh()).token}`);
  }
  return headers;
}
