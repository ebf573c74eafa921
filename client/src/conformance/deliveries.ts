import { randomUUID } from 'node:crypto';
import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { Fault, Route } from './script.ts';

export interface Answer {
  status: number;
  body: object;
}

const LATE_MS = 900;

export function problem(status: number, code: string): Answer {
  const title = STATUS_CODES[status] ?? 'Error';
  // RFC 6749 section 5.2
  const error = status === 401 ? { error: code } : {};
  const body = { type: 'about:blank', title, status, code, detail: `${title}.`, requestId: 'fake', ...error };
  return { status, body };
}

export function send(response: ServerResponse, { status, body }: Answer): void {
  const type = status < 400 ? 'application/json' : 'application/problem+json';
  const challenge = status === 401 ? { 'WWW-Authenticate': 'Basic realm="services", charset="UTF-8"' } : {};
  const later = status === 503 ? { 'Retry-After': '1' } : {};
  const headers = { 'Content-Type': type, 'X-Request-Id': randomUUID(), ...challenge, ...later };
  response.writeHead(status, headers).end(JSON.stringify(body));
}

/** Sends the answers of each route, holds them back, or spoils them. */
export class Deliveries {
  readonly faults = new Map<Route, Fault>();
  private readonly held = new Map<Route, (() => void)[]>();
  private readonly silent = new Map<ServerResponse, Route>();

  heal(route: Route): void {
    this.faults.delete(route);
    for (const [response, silent] of this.silent) if (silent === route) response.destroy();
  }

  /** Accounts decides about such requests at once, and their answers wait. */
  hold(route: Route): void {
    this.held.set(route, []);
  }

  release(route: Route): void {
    const held = this.held.get(route) ?? [];
    this.held.delete(route);
    for (const deliver of held) deliver();
  }

  get heldCount(): number {
    return [...this.held.values()].flat().length;
  }

  deliver(route: Route, response: ServerResponse, answer: Answer): void {
    const held = this.held.get(route);
    if (held) held.push(() => this.deliverNow(route, response, answer));
    else this.deliverNow(route, response, answer);
  }

  private deliverNow(route: Route, response: ServerResponse, answer: Answer): void {
    const fault = this.faults.get(route);
    if (fault === undefined) send(response, answer);
    else if (fault === 'late') setTimeout(() => send(response, answer), LATE_MS);
    else if (fault === 'silent') this.silent.set(response, route);
    else if (fault === 'html')
      response.writeHead(200, { 'Content-Type': 'text/html' }).end('<h1>Log in</h1>');
    else if (fault === 'redirect') response.writeHead(302, { Location: '/elsewhere' }).end();
    else if (fault === 'torn') {
      const whole = JSON.stringify(answer.body);
      response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': whole.length });
      response.write(whole.slice(0, whole.length / 2), () => response.destroy());
    } else send(response, problem(fault, fault === 503 ? 'unavailable' : 'internal_error'));
  }
}
