import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Answered, describeSent, KeepAliveClient, type Sent } from '../../support/keep-alive-client.js';
import { publishedAddress } from './compose.js';
import { PROJECT } from './images.js';

const PORT = 8443;
const ANSWER_TIMEOUT_MS = 60_000;

/** A client that trusts the certificate of the setup and nothing else. */
export function tlsClient(localAddress: string): KeepAliveClient {
  return new KeepAliveClient(`https://${publishedAddress()}:${PORT}`, ANSWER_TIMEOUT_MS, {
    localAddress,
    servername: 'localhost',
    ca: readFileSync(join(PROJECT, 'secrets/tls.pem')),
  });
}

export interface Answer extends Omit<Answered, 'body'> {
  body: Record<string, unknown>;
}

/** Rejects where the connection ended without an answer. */
export async function answerOf(sending: Promise<Sent>): Promise<Answer> {
  const sent = await sending;
  if (sent.kind !== 'answered') throw new Error(describeSent(sent));
  return { ...sent, body: JSON.parse(sent.body) as Record<string, unknown> };
}
