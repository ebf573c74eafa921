import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { createPkce, type Credentials, createGuard, type Refusal, type Guard } from 'accounts-client/service';

const BEGUN_LOGINS = 1_000;

export interface EngineRoom {
  url: string;
  close(): Promise<void>;
}

/** A small internal service: it tells members of an organization that they are in, and with which role. */
export async function openEngineRoom(accounts: string, credentials: Credentials): Promise<EngineRoom> {
  const guard = createGuard({
    issuer: accounts,
    audience: credentials.name,
    credentials,
    onFeedProblem: ({ code, detail }) => console.error(`The feed of Accounts: ${code}: ${detail}`),
  });
  const server = createServer(routes(guard)).listen(0, '127.0.0.1');
  await new Promise((listening) => server.once('listening', listening));
  const address = server.address() as { port: number };
  return { url: `http://127.0.0.1:${address.port}`, close: () => closeAll(server, guard) };
}

function routes(guard: Guard) {
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

  const answer = async (request: IncomingMessage): Promise<object | Refusal> => {
    const [, room, orgId] = new URL(request.url ?? '/', 'http://localhost').pathname.split('/');
    if (room === 'begin') return begin();
    if (room === 'finish') return finish(request);
    return whoIsThere(request, orgId ?? '');
  };

  return (request: IncomingMessage, response: ServerResponse): void => {
    answer(request).then(
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
