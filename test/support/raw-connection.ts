import { connect } from 'node:net';
import { type Answer, checkAnswer, parseJson } from './answer.js';
import type { Service } from './service.js';
import { hangTimeoutMs } from './wait.js';

/**
 * Sends bytes as they are, for requests that no HTTP library would make, and reads the first answer until the
 * service closes the connection. undefined when it closes without a word.
 */
export async function sendBytes(service: Service, bytes: string | Buffer): Promise<Answer | undefined> {
  const text = await exchangeBytes(new URL(service.url), bytes);
  if (text === '') return undefined;
  const answer = parseAnswer(text);
  const [method, path = ''] = bytes.toString().split(' ', 2);
  checkAnswer(`${JSON.stringify(method)} ${path.slice(0, 80)}`, answer, path);
  return answer;
}

/** A request line and header lines, with `Connection: close` so that the answer has an end. */
export function requestBytes(requestLine: string, headerLines: string[] = [], body = ''): string {
  return [`${requestLine} HTTP/1.1`, 'Host: localhost', 'Connection: close', ...headerLines, '', body].join(
    '\r\n',
  );
}

function exchangeBytes(url: URL, bytes: string | Buffer): Promise<string> {
  return new Promise((done, failed) => {
    const chunks: Buffer[] = [];
    const socket = connect(Number(url.port), url.hostname, () => {
      socket.write(typeof bytes === 'string' ? Buffer.from(bytes) : bytes);
    });
    socket.setTimeout(hangTimeoutMs(), () =>
      socket.destroy(new Error('The service neither answered nor closed')),
    );
    socket.on('data', (chunk) => chunks.push(Buffer.from(chunk)));
    socket.on('error', (error: NodeJS.ErrnoException) => {
      // A service that refuses before the request is whole may reset the connection after its answer.
      if (error.code !== 'ECONNRESET' && error.code !== 'EPIPE') failed(error);
    });
    socket.on('close', () => done(Buffer.concat(chunks).toString()));
  });
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
