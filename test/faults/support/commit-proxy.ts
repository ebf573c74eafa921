import { startProxy, type TcpProxy } from './tcp-proxy.js';

/**
 * - `pass`: bytes go both ways.
 * - `lose answer`: the statement reaches the server, takes effect, and the connection ends before its answer.
 * - `lose request`: the connection ends before the statement reaches the server.
 */
export type CommitFault = 'pass' | 'lose answer' | 'lose request';

/** Stands before a MariaDB server and knows one kind of statement: COMMIT, unless another is named. */
export interface CommitProxy extends TcpProxy {
  fault: CommitFault;
  statement: RegExp;
  /** connections ended at their statement */
  cut: number;
}

/** the command byte of a statement, after the packet's length and number */
const COM_QUERY = 3;
const HEADER_BYTES = 4;

export async function startCommitProxy(targetPort: number): Promise<CommitProxy> {
  const state = { fault: 'pass' as CommitFault, statement: /^COMMIT/, cut: 0 };
  const proxy = await startProxy(targetPort, (client, server) => {
    let doomed = false;
    const end = (): void => {
      state.cut += 1;
      client.resetAndDestroy();
      server.destroy();
    };
    client.on('data', (bytes: Buffer) => {
      doomed = state.fault !== 'pass' && state.statement.test(statementIn(bytes));
      if (doomed && state.fault === 'lose request') end();
      else server.write(bytes);
    });
    server.on('data', (bytes: Buffer) => {
      if (doomed) end();
      else client.write(bytes);
    });
  });
  return Object.assign(state, proxy);
}

function statementIn(bytes: Buffer): string {
  return bytes[HEADER_BYTES] === COM_QUERY ? bytes.toString('utf8', HEADER_BYTES + 1) : '';
}
