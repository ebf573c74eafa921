import { OrgResponse } from '../orgs/dto/org.responses.js';
import { UserResponse } from '../users/user.response.js';

export class MeResult {
  user: UserResponse;
  orgs: OrgResponse[];
}
