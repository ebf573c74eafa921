import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { createPkce, type Credentials, createGuard, type Refusal, type Guard } from 'accounts-client/service';

const BEGUN_LOGINS = 1_000;

export interface RunningService {
  url: string;
  close(): Promise<void>;
}

/** Answers a request by the parts of its path. */
export type Route = (request: IncomingMessage, path: readonly string[]) => Promise<object | Refusal>;

/** A small internal service: it tells members of an organization that they are in, and books their visits in the ledger. */
export function openEngineRoom(
  accounts: string,
  ledger: string,
  credentials: Credentials,
): Promise<RunningService> {
  return openService(accounts, credentials, (guard) => engineRoom(guard, ledger));
}

export async function openService(
  accounts: string,
  credentials: Credentials,
  routeOf: (guard: Guard) => Route,
): Promise<RunningService> {
  const guard = createGuard({
    issuer: accounts,
    audience: credentials.name,
    credentials,
    onFeedProblem: ({ code, detail }) => console.error(`The feed of Accounts: ${code}: ${detail}`),
  });
  const server = createServer(answering(routeOf(guard))).listen(0, '127.0.0.1');
  await new Promise((listening) => server.once('listening', listening));
  const address = server.address() as { port: number };
  return { url: `http://127.0.0.1:${address.port}`, close: () => closeAll(server, guard) };
}

function engineRoom(guard: Guard, ledger: string): Route {
  const begun = new Map<string, string>();

  /** The code verifier stays here; the client gets the challenge. */
  const begin = async (): Promise<object> => {
    const { codeVerifier, challenge } = await createPkce();
    const login = crypto.randomUUID();
    begun.set(login, codeVerifier);
    for (const oldest of begun.keys()) {
      if (begun.size <= BEGUN_LOGINS) break;
      begun.delete(oldest);
    }
    return { login, challenge };
  };

  const finish = async (request: IncomingMessage): Promise<object> => {
    const { login, code } = JSON.parse(await text(request)) as { login: string; code: string };
    const answer = await guard.exchange({ code, codeVerifier: begun.get(login) ?? '' });
    begun.delete(login);
    return answer.ok ? { token: answer.token } : answer;
  };

  const whoIsThere = async (request: IncomingMessage, orgId: string): Promise<object> => {
    const answer = await guard.authorize(request.headers.authorization, { orgId });
    return answer.ok ? { email: answer.user.email, role: answer.role } : answer;
  };

  /** The ledger gets a token for this call, never the one of the request. */
  const book = async (request: IncomingMessage, orgId: string): Promise<object> => {
    const admission = await guard.authorize(request.headers.authorization, { orgId });
    if (!admission.ok) return admission;
    const [forUser, own] = [await guard.tokenFor('ledger', admission), await guard.ownTokenFor('ledger')];
    if (!forUser.ok) return forUser;
    if (!own.ok) return own;
    const post = async (path: string, token: string): Promise<unknown> => {
      const headers = { Authorization: `Bearer ${token}` };
      return (await fetch(`${ledger}/${path}`, { method: 'POST', headers })).json();
    };
    return { booked: await post(`visits/${orgId}`, forUser.token), closed: await post('close', own.token) };
  };

  return async (request, [room, orgId = '']) => {
    if (room === 'begin') return begin();
    if (room === 'finish') return finish(request);
    return room === 'book' ? book(request, orgId) : whoIsThere(request, orgId);
  };
}

function answering(route: Route) {
  return (request: IncomingMessage, response: ServerResponse): void => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost');
    route(request, pathname.split('/').slice(1)).then(
      (body) => send(response, body),
      () => response.writeHead(400).end('{}'),
    );
  };
}

function send(response: ServerResponse, answer: object | Refusal): void {
  if ('problem' in answer) {
    response.writeHead(answer.status, answer.headers).end(JSON.stringify(answer.problem));
    return;
  }
  response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(answer));
}

/** Requests in progress are still decided. */
async function closeAll(server: Server, guard: Guard): Promise<void> {
  await new Promise((closed) => {
    server.close(closed);
    server.closeIdleConnections();
  });
  await guard.close();
}
