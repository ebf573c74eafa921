import { ApiProperty } from '@nestjs/swagger';

const RECOVERY_CODES = [
  '7K2M9-QX4TB-0V8NC-H3WRE-5YGJ1Z',
  'D4PAS-1T9VF-K6X0M-2QBNH-8CWEY3',
  'X9RJ3-5ZT7G-W1KQC-V0MHA-4NBD8E',
  'B8FYN-2HSE6-3RVXJ-T7PKD-G1MQ0W',
  '0CWQ5-M4YA9-8JTFB-6ZRVN-XH2KGS',
  'G3HXK-7NP1D-QSA5V-9EMWT-JB0CR6',
  'V6TBR-K0MZ8-4YDHQ-C1XJS-2WFNE7',
  'N1EGZ-X5WQC-7BKRP-3SVMA-T9HYD4',
  'M7SVA-9DRJH-E2TGX-0FNYB-6PKC5Q',
  'J2QND-3XKFW-V9MEY-B4HTC-R7ZA1G',
];

export class SecondFactorResult {
  /** @example true */
  @ApiProperty()
  enabled: boolean;

  /** null while there is none */
  @ApiProperty({ type: String, format: 'date-time', nullable: true, example: '2026-11-22T09:30:00.000Z' })
  enabledAt: string | null;

  /** @example 10 */
  @ApiProperty({ type: 'integer', minimum: 0, maximum: 10 })
  recoveryCodesLeft: number;
}

export class EnrolmentResult {
  /**
   * the secret in base32, to type into an authenticator app
   * @example "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"
   */
  @ApiProperty({ pattern: '^[A-Z2-7]{32}$' })
  secret: string;

  /**
   * the same with the names of account and service, to show as a QR code
   * @example "otpauth://totp/accounts:ada%40example.com?secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP&issuer=accounts&algorithm=SHA1&digits=6&period=30"
   */
  @ApiProperty({ pattern: '^otpauth://totp/' })
  uri: string;
}

export class RecoveryCodesResult {
  /** the new recovery codes, each of which works once; they are shown this time only */
  @ApiProperty({
    type: 'array',
    items: { type: 'string', pattern: '^(?:[0-9A-HJKMNP-TV-Z]{5}-){4}[0-9A-HJKMNP-TV-Z]{6}$' },
    minItems: 10,
    maxItems: 10,
    example: RECOVERY_CODES,
  })
  recoveryCodes: string[];
}
