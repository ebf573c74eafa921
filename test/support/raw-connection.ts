import { hangTimeoutMs, within } from '../../tooling/wait.js';
import { type Answer, checkAnswer, parseJson } from './answer.js';
import { keptAliveRequest, openConnection } from './open-connection.js';
import type { Service } from './service.js';

/**
 * Sends bytes as they are, for requests that no HTTP library would make, and reads the first answer until the
 * service closes the connection. undefined when it closes without a word.
 */
export async function sendBytes(service: Service, bytes: string | Buffer): Promise<Answer | undefined> {
  const text = await exchangeBytes(service.url, bytes);
  if (text === '') return undefined;
  const answer = parseAnswer(text);
  const [method, path = ''] = bytes.toString().split(' ', 2);
  checkAnswer(`${JSON.stringify(method)} ${path.slice(0, 80)}`, answer, path);
  return answer;
}

/** A request line and header lines, with `Connection: close` so that the answer has an end. */
export function requestBytes(requestLine: string, headerLines: string[] = [], body = ''): string {
  return keptAliveRequest(requestLine, ['Connection: close', ...headerLines], body);
}

/** A service that refuses before the request is whole may reset the connection after its answer. */
async function exchangeBytes(url: string, bytes: string | Buffer): Promise<string> {
  const { socket, closed } = await openConnection(url);
  socket.write(bytes);
  return within('the service answers and closes', hangTimeoutMs(), closed).finally(() => socket.destroy());
}

function parseAnswer(text: string): Answer {
  const end = text.indexOf('\r\n\r\n');
  const [statusLine = '', ...lines] = text.slice(0, end).split('\r\n');
  const headers = new Headers(
    lines.map((line): [string, string] => [
      line.slice(0, line.indexOf(':')),
      line.slice(line.indexOf(':') + 1).trim(),
    ]),
  );
  const length = headers.get('content-length');
  const rest = text.slice(end + 4, length === null ? undefined : end + 4 + Number(length));
  const body =
    headers.get('transfer-encoding') === 'chunked' ? rest.replaceAll(/(^|\r\n)[0-9a-f]+\r\n/g, '') : rest;
  return {
    status: Number(statusLine.split(' ')[1]),
    headers,
    body: parseJson(body.trim()),
    text: body.trim(),
  };
}
