import { OPERATIONS } from './load/call.ts';

export const USAGE = `npm run bench -- [TABLE] [--quick] [--users N] [--hash-engine E] [--service FILE] [--out DIR]

tables
  (none)                  the service against the baseline: at most 5 minutes, 1 with --quick
    --engine mariadb|sqlite
    --only "me,list of 20"
    --service baseline    the baseline against itself
    --before FILE         the dist/main.js of an earlier build instead of the baseline
    --no-record           the baseline writes no audit log
  --growth                the service on databases of several sizes, then with organizations of several
                          sizes: about 7 minutes
    --sizes 1000,100000,1000000
                          other users in the databases; the first is what the others are compared with
    --org-sizes 20,1000,100000
                          members of the organizations
  --feed                  the event feed: a backlog of two sizes, the delay of an event, and the cost of
                          writes with ten readers: about 4 minutes
    --sizes 10000,1000000 events in the feed; the first is what the others are compared with
  --client                the CPU time of accounts-client and of bare fetch, and how many access tokens
                          the guard accepts: about 3 minutes
  --soak [N]              the service's memory over N requests of all kinds, by default 1,000,000: 10 minutes
                          or more
  --workers N             the service with WEB_CONCURRENCY=N against the service with 1: about 2 minutes

options
  --quick                 short rounds, for a look; the ratios are rough
  --users N               so many more users in the database
  --hash-engine argon2|@node-rs/argon2
                          makes the servers use this engine
  --service FILE          the built service, by default dist/main.js
  --out DIR               where the Markdown and the JSON go, by default bench/results

operations: ${OPERATIONS.join('; ')}`;
