import { describe, expect, it } from 'vitest';
import { issuerUrl } from './readers.js';

describe('issuerUrl', () => {
  it.each([
    ['https://id.example.com', 'https://id.example.com', ''],
    ['https://id.example.com/', 'https://id.example.com', ''],
    ['http://127.0.0.1:3000', 'http://127.0.0.1:3000', ''],
    ['http://[::1]:3000/', 'http://[::1]:3000', ''],
    ['https://example.com/accounts', 'https://example.com/accounts', '/accounts'],
    ['https://example.com:8443/a/b/', 'https://example.com:8443/a/b', '/a/b'],
    ['https://example.com/ä', 'https://example.com/ä', '/%C3%A4'],
  ])('%s can be discovered', (issuer, base, path) => {
    expect(issuerUrl(issuer)).toEqual({ base, path });
  });

  it.each([
    'accounts',
    '//id.example.com',
    'urn:example:accounts',
    'ftp://id.example.com',
    'https://',
    'https:id.example.com',
    'https://id.example.com?',
    'https://id.example.com/#top',
    'https://ada:secret@id.example.com',
    'https://ada@id.example.com',
    'https://id.example.com:port',
    'https://id.example.com\\accounts',
    ' https://id.example.com',
    'https://id.example.com\n',
  ])('%j cannot', (issuer) => {
    expect(issuerUrl(issuer)).toBeUndefined();
  });
});
