const SCRIPT = `
  import crypto from 'node:crypto';
  import { syncBuiltinESMExports } from 'node:module';
  delete crypto.randomUUIDv7;
  syncBuiltinESMExports();
`;

/** For NODE_OPTIONS: takes away what a Node before 24.16 lacks. */
export const AS_AN_OLD_NODE = `--import=data:text/javascript,${encodeURIComponent(SCRIPT)}`;
