import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ReceivedSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  status: { code?: number };
  attributes: Record<string, string | number>;
  links: { traceId: string; spanId: string }[];
}

export interface OtlpReceiver {
  url: string;
  spans: ReceivedSpan[];
  texts: string[];
  close(): Promise<void>;
}

interface Value {
  stringValue?: string;
  intValue?: number | string;
}

interface Export {
  resourceSpans: { scopeSpans: { spans: WireSpan[] }[] }[];
}

type WireSpan = Omit<ReceivedSpan, 'attributes' | 'links'> & {
  attributes?: { key: string; value: Value }[];
  links?: ReceivedSpan['links'];
};

export async function anOtlpReceiver(): Promise<OtlpReceiver> {
  const spans: ReceivedSpan[] = [];
  const texts: string[] = [];
  const server = createServer((request, response) => {
    void take(request, response);
  });
  const take = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const text = await bodyOf(request);
    texts.push(text);
    if (request.url === '/v1/traces') spans.push(...spansIn(text));
    response.writeHead(200, { 'Content-Type': 'application/json' }).end('{}');
  };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    texts,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

function spansIn(text: string): ReceivedSpan[] {
  const { resourceSpans } = JSON.parse(text) as Export;
  return resourceSpans
    .flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans))
    .map(({ attributes = [], links = [], ...span }) =>
      Object.assign(span, {
        links,
        attributes: Object.fromEntries(
          attributes.map(({ key, value }) => [key, value.stringValue ?? Number(value.intValue)]),
        ),
      }),
    );
}
