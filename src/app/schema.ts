import type { DataSource } from 'typeorm';
import { ApiKey } from '../api-keys/api-keys.repository.js';
import { loadEnv } from '../config/env.js';
import { Identity } from '../auth/providers/identities.repository.js';
import { ProviderDomain } from '../auth/providers/provider-domains.repository.js';
import { ProviderLogin } from '../auth/providers/provider-logins.repository.js';
import { Provider } from '../auth/providers/providers.repository.js';
import { EmailCode } from '../auth/email-codes/email-codes.repository.js';
import { Instance } from '../auth/tokens/instances.repository.js';
import { KnownPlace } from '../auth/sessions/known-places.repository.js';
import { LoginTrace } from '../auth/sessions/login-traces.repository.js';
import { AuthorizationCode, PendingRevocation, Session } from '../auth/sessions/session.entity.js';
import { SecondFactorFailures } from '../auth/second-factor/second-factor-failures.repository.js';
import { RecoveryCode, SecondFactor } from '../auth/second-factor/second-factors.repository.js';
import { Event, FeedEntry } from '../events/event.entity.js';
import { OperatorEmail } from '../events/operator-emails.repository.js';
import { Mail } from '../mail/mail.entity.js';
import { Invitation, Member, Org } from '../orgs/state/org.entity.js';
import { IdempotencyKey } from '../requests/idempotency-keys.repository.js';
import { CreateSchema1795219200000 } from '../database/migrations/1795219200000-create-schema.js';
import { ProfilesAndProtection1795651200000 } from '../database/migrations/1795651200000-profiles-and-protection.js';
import { ServiceCalls1795910400000 } from '../database/migrations/1795910400000-service-calls.js';
import { ApiKeys1795996800000 } from '../database/migrations/1795996800000-api-keys.js';
import { Providers1796083200000 } from '../database/migrations/1796083200000-providers.js';
import { createDataSource, dataSourceOptions, type DatabaseSchema } from '../database/database.module.js';
import { LiftedLimit } from '../rate-limits/lifted-limits.repository.js';
import { ServiceCall } from '../services/service-calls.repository.js';
import { ServiceSecret } from '../services/service-secrets.repository.js';
import { Service } from '../services/services.repository.js';
import { User } from '../users/user.entity.js';

export const SCHEMA: DatabaseSchema = {
  entities: [
    User,
    Session,
    AuthorizationCode,
    PendingRevocation,
    KnownPlace,
    LoginTrace,
    SecondFactor,
    SecondFactorFailures,
    RecoveryCode,
    Org,
    Member,
    Invitation,
    IdempotencyKey,
    LiftedLimit,
    Instance,
    Event,
    FeedEntry,
    OperatorEmail,
    Mail,
    EmailCode,
    Service,
    ServiceSecret,
    ServiceCall,
    ApiKey,
    Provider,
    ProviderDomain,
    Identity,
    ProviderLogin,
  ],
  migrations: [
    CreateSchema1795219200000,
    ProfilesAndProtection1795651200000,
    ServiceCalls1795910400000,
    ApiKeys1795996800000,
    Providers1796083200000,
  ],
};

export async function migrationDataSource(): Promise<DataSource> {
  return createDataSource(await dataSourceOptions(loadEnv(), SCHEMA, 'maintenance'));
}
