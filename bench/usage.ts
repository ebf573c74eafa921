import { OPERATIONS } from './load/call.ts';

export const USAGE = `npm run bench -- [TABLE] [--quick] [--users N] [--hash-engine E] [--service FILE] [--out DIR]

tables
  (none)                  the service beside the baseline: at most 5 minutes, 1 with --quick
    --engine mariadb|sqlite
    --only "me,list of 20"
    --service baseline    the baseline against itself
    --before FILE         beside the dist/main.js of an earlier build instead of the baseline
    --no-record           the baseline writes no record of changes
  --growth                the service on databases of several sizes, then with organizations of several
                          sizes: about 7 minutes
    --sizes 1000,100000,1000000
                          other users in the databases; the first is what the others are compared with
    --org-sizes 20,1000,100000
                          members of the organizations
  --feed                  what services hear: a backlog of two sizes, how soon a change is heard of, and what
                          writes cost beside ten readers: about 4 minutes
    --sizes 10000,1000000 events in the feed; the first is what the others are compared with
  --client                the processor time of accounts-client beside that of bare fetch, and how many tokens
                          its guard admits: about 3 minutes
  --soak [N]              the service's memory over N requests of all kinds, by default 1,000,000: 10 minutes
                          or more
  --workers N             the service with WEB_CONCURRENCY=N beside the service with 1: about 2 minutes

options
  --quick                 short rounds, for a look; the ratios are rough
  --users N               so many more users in the database
  --hash-engine argon2|@node-rs/argon2
                          leaves the servers no other engine
  --service FILE          the built service, by default dist/main.js
  --out DIR               where the Markdown and the JSON go, by default bench/results

operations: ${OPERATIONS.join('; ')}`;
