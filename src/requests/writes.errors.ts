import { Problem } from '../problems/problem.js';

export class PreconditionFailedError extends Problem {
  constructor() {
    super('precondition_failed');
  }
}

export class IdempotencyKeyReusedError extends Problem {
  constructor() {
    super('idempotency_key_reused');
  }
}
