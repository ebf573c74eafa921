import { type Client, createClient, memoryStore } from '../../client/src/index.ts';
import type { RequestName, Sender, Setup } from './protocol.ts';

type Send = (place: number) => Promise<void>;
export type Requests = Record<Sender, Record<RequestName, Send>>;

/** Both senders use the same token, and read and check the same answers. */
export async function openRequests({ url, user, orgId }: Setup): Promise<Requests> {
  const client = createClient({ baseUrl: url, store: memoryStore() });
  const login = succeeded(await client.login(user));
  return { fetch: byFetch(url, login.token, orgId), client: byClient(client, orgId) };
}

function byClient(client: Client, orgId: string): Requests['client'] {
  return {
    me: async () => {
      succeeded(await client.getMe());
    },
    rename: async (place) => {
      succeeded(await client.updateOrg({ orgId, name: nameOf(place) }));
    },
  };
}

/** Sends as somebody does by hand who wants the answer or an error. */
function byFetch(url: string, token: string, orgId: string): Requests['fetch'] {
  const headers = { Authorization: `Bearer ${token}` };
  return {
    me: async () => {
      await read(await fetch(`${url}/api/me`, { headers }));
    },
    rename: async (place) => {
      const response = await fetch(`${url}/api/orgs/${orgId}`, {
        method: 'PATCH',
        headers: { ...headers, 'Content-Type': 'application/json', 'Idempotency-Key': crypto.randomUUID() },
        body: JSON.stringify({ name: nameOf(place) }),
      });
      await read(response);
    },
  };
}

async function read(response: Response): Promise<unknown> {
  if (!response.ok) throw new Error(`answered ${response.status}`);
  return response.json();
}

export function succeeded<Data>(
  result: { ok: true; data: Data } | { ok: false; problem: { detail: string } },
): Data {
  if (result.ok) return result.data;
  throw new Error(result.problem.detail);
}

const nameOf = (place: number): string => `Renamed ${place % 2}`;
