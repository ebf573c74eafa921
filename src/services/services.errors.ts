import { RefusedError } from '../problems/problem.js';

export class UnknownServiceError extends RefusedError {
  constructor(name: string) {
    super(`there is no service ${name}`, 'service_not_found');
  }
}

export class ServiceNameError extends RefusedError {
  constructor() {
    super(
      'the name of a service is 1 to 40 lower-case letters, digits and hyphens, the first a letter (service_name)',
    );
  }
}

export class ReservedNameError extends RefusedError {
  constructor(name: string, variable: string) {
    super(`${name} is the value of ${variable}, which no service may be called (service_name_reserved)`);
  }
}

export class NameTakenError extends RefusedError {
  constructor(name: string) {
    super(`there is or was a service ${name}, and names are not given a second time (service_name_taken)`);
  }
}

export class ServiceRemovedError extends RefusedError {
  constructor(name: string) {
    super(`the service ${name} was removed, for good: add one of another name`, 'service_removed');
  }
}

export class TooManySecretsError extends RefusedError {
  constructor(name: string) {
    super(
      `the service ${name} has two live secrets: revoke the one that is out of use first (too_many_secrets)`,
    );
  }
}

export class UnknownSecretError extends RefusedError {
  constructor(name: string, id: string) {
    super(`the service ${name} has no secret ${id} (secret_not_found)`);
  }
}

export class OneSecretError extends RefusedError {
  constructor(name: string) {
    super(`the service ${name} has no two live secrets: name by id the one to revoke (secret_not_named)`);
  }
}

export class ReservedServiceError extends Error {
  constructor(name: string, variable: string) {
    super(
      `${variable}: there is a service of this name, whose tokens would pass for full ones: set another value, or run accounts services remove ${name}`,
    );
  }
}
