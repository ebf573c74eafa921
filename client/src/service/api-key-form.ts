const FORM = /^ack_[0-9A-Za-z]{49}$/;
const PREFIX = 'ack_';
const SECRET = 43;
const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const CHECKSUM = 6;
/** The polynomial of CRC-32, as in zlib. Node 20 has no function for it. */
const CRC_32 = 0xedb88320;

/** A quick check of what is compared as a whole later. */
export function beginsLikeApiKey(text: string): boolean {
  return text.length === PREFIX.length + SECRET + CHECKSUM && text.startsWith(PREFIX);
}

/** Returns whether the text has the form of an API key, and its checksum is right. */
export function isApiKey(text: string): boolean {
  return (
    beginsLikeApiKey(text) &&
    FORM.test(text) &&
    apiKeyOf(text.slice(PREFIX.length, PREFIX.length + SECRET)) === text
  );
}

/** @param secret 43 base62 characters */
export function apiKeyOf(secret: string): string {
  let crc = -1;
  for (const byte of Buffer.from(secret)) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? CRC_32 : 0);
  }
  let checksum = '';
  for (let rest = ~crc >>> 0; checksum.length < CHECKSUM; rest = Math.floor(rest / DIGITS.length))
    checksum = DIGITS[rest % DIGITS.length]! + checksum;
  return PREFIX + secret + checksum;
}
