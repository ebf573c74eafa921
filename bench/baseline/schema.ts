interface Dialect {
  ascii: string;
  unicode: string;
  tableOptions: string;
}

const MYSQL: Dialect = {
  ascii: 'CHARACTER SET ascii COLLATE ascii_bin',
  unicode: 'CHARACTER SET utf8mb4 COLLATE utf8mb4_bin',
  tableOptions: ' ENGINE=InnoDB',
};
const SQLITE: Dialect = { ascii: '', unicode: '', tableOptions: '' };

/** Table by table, the schema of the service, indexes included: an index costs every write. */
function tables({ ascii, unicode, tableOptions }: Dialect): string[] {
  const id = `varchar(36) ${ascii}`;
  const table = (name: string, columns: string): string =>
    `CREATE TABLE IF NOT EXISTS ${name} (${columns})${tableOptions}`;
  return [
    table(
      'users',
      `id ${id} NOT NULL PRIMARY KEY, email varchar(254) ${ascii} NOT NULL UNIQUE,
       password_hash varchar(255) ${ascii} NOT NULL, created_at bigint NOT NULL, second_factor_at bigint NULL`,
    ),
    table(
      'second_factors',
      `user_id ${id} NOT NULL PRIMARY KEY, secret varchar(200) ${ascii} NOT NULL,
       last_step bigint NOT NULL DEFAULT 0, enabled_at bigint NULL,
       CONSTRAINT second_factors_user_id_fkey FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE`,
    ),
    table(
      'second_factor_failures',
      `user_id ${id} NOT NULL, scope varchar(9) ${ascii} NOT NULL, count integer NOT NULL, since bigint NOT NULL,
       PRIMARY KEY (user_id, scope),
       CONSTRAINT failures_user_id_fkey FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE`,
    ),
    table(
      'sessions',
      `id ${id} NOT NULL PRIMARY KEY, user_id ${id} NOT NULL, auth_time bigint NOT NULL,
       created_at bigint NOT NULL, expires_at bigint NOT NULL, revoked_at bigint NULL,
       refresh_generation integer NOT NULL DEFAULT 0, rotated_at bigint NULL,
       login_id ${id} NULL, branch_id ${id} NULL, code_hash varchar(43) ${ascii} NULL UNIQUE,
       CONSTRAINT sessions_user_id_fkey FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE`,
    ),
    table(
      'authorization_codes',
      `hash varchar(43) ${ascii} NOT NULL PRIMARY KEY, session_id ${id} NOT NULL,
       created_at bigint NOT NULL, expires_at bigint NOT NULL,
       CONSTRAINT codes_session_id_fkey FOREIGN KEY (session_id) REFERENCES sessions (id) ON DELETE CASCADE`,
    ),
    table(
      'orgs',
      `id ${id} NOT NULL PRIMARY KEY, name varchar(100) ${unicode} NOT NULL, revision integer NOT NULL,
       created_at bigint NOT NULL`,
    ),
    table(
      'members',
      `org_id ${id} NOT NULL, user_id ${id} NOT NULL, email varchar(254) ${ascii} NOT NULL,
       role varchar(6) ${ascii} NOT NULL, joined_at bigint NOT NULL, PRIMARY KEY (org_id, user_id),
       CONSTRAINT members_org_id_fkey FOREIGN KEY (org_id) REFERENCES orgs (id) ON DELETE CASCADE,
       CONSTRAINT members_user_id_fkey FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE`,
    ),
    table(
      'invitations',
      `id ${id} NOT NULL PRIMARY KEY, org_id ${id} NOT NULL, email varchar(254) ${ascii} NOT NULL,
       role varchar(6) ${ascii} NOT NULL, status varchar(8) ${ascii} NOT NULL, pending integer NULL,
       code_hash varchar(43) ${ascii} NOT NULL, invited_by ${id} NOT NULL, created_at bigint NOT NULL,
       expires_at bigint NOT NULL, ended_at bigint NULL, UNIQUE (org_id, email, pending)`,
    ),
    table(
      'events',
      `id ${id} NOT NULL PRIMARY KEY, type varchar(40) ${ascii} NOT NULL, at bigint NOT NULL,
       actor_type varchar(8) ${ascii} NOT NULL, actor_id varchar(128) ${ascii} NULL, actor_session_id ${id} NULL,
       org_id ${id} NULL, org_revision integer NULL, user_id ${id} NULL, data varchar(1000) ${unicode} NOT NULL,
       ip varchar(45) ${ascii} NULL`,
    ),
  ];
}

const INDEXES = [
  'CREATE INDEX IF NOT EXISTS sessions_user_id_idx ON sessions (user_id)',
  'CREATE INDEX IF NOT EXISTS sessions_login_id_idx ON sessions (login_id, id)',
  'CREATE INDEX IF NOT EXISTS sessions_branch_id_idx ON sessions (branch_id, id)',
  'CREATE INDEX IF NOT EXISTS sessions_expires_at_id_idx ON sessions (expires_at, id)',
  'CREATE INDEX IF NOT EXISTS authorization_codes_session_id_idx ON authorization_codes (session_id)',
  'CREATE INDEX IF NOT EXISTS authorization_codes_expires_at_idx ON authorization_codes (expires_at)',
  'CREATE INDEX IF NOT EXISTS members_list_idx ON members (org_id, joined_at, user_id, role, email)',
  'CREATE INDEX IF NOT EXISTS members_org_id_role_idx ON members (org_id, role)',
  'CREATE INDEX IF NOT EXISTS members_user_id_joined_at_idx ON members (user_id, joined_at, org_id)',
  'CREATE INDEX IF NOT EXISTS invitations_email_idx ON invitations (email, pending)',
  'CREATE INDEX IF NOT EXISTS invitations_invited_by_idx ON invitations (org_id, invited_by, pending)',
  'CREATE INDEX IF NOT EXISTS invitations_org_id_status_idx ON invitations (org_id, status, id)',
  'CREATE INDEX IF NOT EXISTS invitations_expires_at_idx ON invitations (pending, expires_at)',
  'CREATE INDEX IF NOT EXISTS events_org_id_org_revision_idx ON events (org_id, org_revision, id)',
  'CREATE INDEX IF NOT EXISTS events_org_id_user_id_idx ON events (org_id, user_id, org_revision, id)',
  'CREATE INDEX IF NOT EXISTS events_user_id_idx ON events (user_id, id)',
];

// MySQL has no CREATE INDEX IF NOT EXISTS; MariaDB, the one that the benchmark starts, has.
export const MYSQL_SCHEMA = [...tables(MYSQL), ...INDEXES];
export const SQLITE_SCHEMA = [...tables(SQLITE), ...INDEXES];
