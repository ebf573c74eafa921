import { SERVICE_SCOPES, type ServiceScope } from '../../access/principal.js';
import { typedScopes } from '../../services/service-secrets.js';
import { CannotRunError } from '../cannot-run.error.js';

export function requireScopes(text: string): ServiceScope[] {
  const scopes = typedScopes(text);
  if (scopes) return scopes;
  throw new CannotRunError(`expected none, or some of ${SERVICE_SCOPES.join(', ')}, separated by commas`);
}
