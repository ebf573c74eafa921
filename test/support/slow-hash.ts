/** Hashes so slow that the queue does not empty between two requests, and has few places. */
export const SLOW_HASH = { ARGON2_MEMORY_KIB: '19456', ARGON2_TIME: '16' };
