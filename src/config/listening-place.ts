export function hostAndPort(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

export function listenFailure(code: string | undefined): string {
  return code === 'EADDRINUSE' ? 'EADDRINUSE: another process listens there' : String(code);
}
