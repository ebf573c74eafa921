import type { OkResult } from './ok.responses.js';

export const OK: OkResult = { ok: true };
