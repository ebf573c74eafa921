import {
  applyDecorators,
  createParamDecorator,
  type ExecutionContext,
  Injectable,
  type PipeTransform,
  type Type,
} from '@nestjs/common';
import { ApiBody, ApiParam } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { Operators } from '../access/access.decorators.js';
import type { SignedInOperator } from '../access/principal.js';
import { validationPipe } from '../http/fields.js';
import { operatorOf } from '../http/request-origin.js';
import { isEntityId } from '../identifiers/entity-id.js';
import { ApiProblems, invalidFields } from '../openapi/decorators.js';
import { Problem } from '../problems/problem.js';
import { requireUnprotected } from '../users/user-changes.js';
import type { UserView } from '../users/user-view.js';
import { UsersRepository } from '../users/users.repository.js';
import { REASON_NEEDED, ReasonRequest } from './operators.requests.js';

export const UNKNOWN_USER = { code: 'user_not_found', detail: 'No user has this id.' } as const;

export const ApiUserId = (): MethodDecorator =>
  ApiParam({ name: 'userId', type: String, format: 'uuid', description: 'Id of the user.' });

type Problems = Parameters<typeof ApiProblems>;

/** Declares a change by an operator, which takes a reason. */
export const Operation = (...problems: Problems): MethodDecorator =>
  applyDecorators(Operators(), ApiProblems(invalidFields({ reason: REASON_NEEDED }), ...problems));

/** Declares a change of a user: that of an operator is rejected. */
export const UserOperation = (...problems: Problems): MethodDecorator =>
  applyDecorators(Operation(UNKNOWN_USER, 'operator_protected', ...problems), ApiUserId());

/** Finds the users whom operators name. */
@Injectable()
export class OperatedUsers {
  constructor(private readonly users: UsersRepository) {}

  async find(id: string): Promise<UserView> {
    const user = await this.users.findById(id);
    if (!user) throw new Problem(UNKNOWN_USER.code, { detail: UNKNOWN_USER.detail });
    return user;
  }
}

export interface OperatorChange {
  actor: SignedInOperator;
  force: boolean;
}

interface NamedChange extends OperatorChange {
  userId: string;
}

export interface UserChange extends NamedChange {
  /** at the time of the request, for the answer */
  email: string;
}

const VALIDATION = validationPipe();

/** Reads the body itself, so that a bad body of an unknown user is 400. */
const readChange = createParamDecorator(
  async (type: Type, context: ExecutionContext): Promise<NamedChange> => {
    const request = context.switchToHttp().getRequest<FastifyRequest<{ Params: { userId?: string } }>>();
    const body: unknown = await VALIDATION.transform(request.body, { type: 'body', metatype: type });
    const { reason, force = false, userId = '' } = body as ReasonRequest & Partial<NamedChange>;
    const { userId: id = userId } = request.params;
    return { userId: isEntityId(id) ? id : '', actor: { ...operatorOf(request), reason }, force };
  },
);

/** @throws Problem before any slow work, as the transaction does, too */
@Injectable()
class ChangeableUserPipe implements PipeTransform<NamedChange, Promise<UserChange>> {
  constructor(private readonly users: OperatedUsers) {}

  async transform(change: NamedChange): Promise<UserChange> {
    const user = await this.users.find(change.userId);
    requireUnprotected(change.actor, user);
    return { ...change, email: user.email };
  }
}

/** A change with its reason; `type` is the type of its body. */
export const Change = (type: Type<ReasonRequest> = ReasonRequest): ParameterDecorator =>
  withBody(type, readChange(type));

/** A change of a user whom the path or the body names. */
export const ChangedUser = (type: Type<ReasonRequest> = ReasonRequest): ParameterDecorator =>
  withBody(type, readChange(type, ChangeableUserPipe));

function withBody(type: Type, decorate: ParameterDecorator): ParameterDecorator {
  return (target, key, index) => {
    ApiBody({ type })(target, key!, Object.getOwnPropertyDescriptor(target, key!)!);
    decorate(target, key, index);
  };
}
