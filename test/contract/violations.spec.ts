import { expect } from 'chai';
import fc from 'fast-check';
import { configSchema } from '../../shared/config/schema.ts';
import { MANIFEST_SCHEMA } from '../../shared/plugins/manifest-schema.ts';
import type { Row } from '../../shared/routes/row.ts';
import { ROWS } from '../../shared/routes/table.ts';
import { faultOf } from '../../shared/schemas/fault.ts';
import type { JsonSchema } from '../../shared/schemas/json-schema.ts';
import { validatorOf } from '../../shared/schemas/validator.ts';
import { WORDS } from '../../shared/schemas/violation-words.ts';

const rows = ROWS as readonly Row[];

/** What Ajv says by itself. */
const AJV =
  /must NOT|must match (?:pattern|format|a schema|exactly|"(?:then|else)")|must be (?:equal to|string|integer|number|boolean|array|object|[<>]=?|passing|multiple of)(?: |;|$)|must have required|must contain at least|property name|boolean schema/;

/** A schema, a value that does not fit it, and the sentence, for each keyword. */
const SENTENCES: Readonly<Record<string, readonly (readonly [JsonSchema, unknown, string])[]>> = {
  type: [
    [{ type: 'string' }, 1, 'It must be text'],
    [{ type: ['integer', 'null'] }, 'x', 'It must be a whole number or null'],
    [
      { type: 'object', properties: { a: { type: 'array', items: { type: 'boolean' } } } },
      { a: [1] },
      'a[0] must be true or false',
    ],
  ],
  required: [[{ type: 'object', required: ['cmd'], properties: { cmd: {} } }, {}, 'It needs "cmd"']],
  additionalProperties: [
    [{ type: 'object', additionalProperties: false }, { 'a/b': 1 }, 'a/b is not known here'],
  ],
  'false schema': [[{ type: 'object', properties: { a: false } }, { a: 1 }, 'a is not possible here']],
  enum: [
    [{ enum: ['a', 'b c', 3] }, 'x', 'It must be a, "b c" or 3'],
    [{ enum: ['on', null] }, 'x', 'It must be on or null'],
  ],
  const: [[{ const: true }, false, 'It must be true']],
  format: [
    [{ type: 'string', format: 'date-time' }, 'x', 'It must be a time such as 2026-01-31T12:00:00Z'],
    [{ type: 'string', format: 'date' }, 'x', 'It must be a day such as 2026-01-31'],
    [{ type: 'string', format: 'ip-address' }, 'x', 'It must be an IPv4 or IPv6 address'],
  ],
  pattern: [
    [
      { type: 'string', pattern: '^[0-9]{4,12}$', description: '4 to 12 digits' },
      'x',
      'It does not have the right form (4 to 12 digits; ^[0-9]{4,12}$)',
    ],
    [{ type: 'string', pattern: '^[0-9]$', 'x-says': 'must be a digit' }, 'x', 'It must be a digit'],
  ],
  minLength: [
    [{ type: 'string', minLength: 1 }, '', 'It must not be empty'],
    [{ type: 'string', minLength: 6 }, 'x', 'It must have at least 6 characters'],
  ],
  maxLength: [[{ type: 'string', maxLength: 2 }, 'xxx', 'It must have at most 2 characters']],
  minimum: [
    [{ type: 'number', minimum: 1, maximum: 30 }, 0, 'It must be from 1 to 30'],
    [{ type: 'number', minimum: 1 }, 0, 'It must be 1 or more'],
  ],
  maximum: [
    [{ type: 'number', exclusiveMinimum: 0, maximum: 10 }, 11, 'It must be 10 or less and more than 0'],
  ],
  exclusiveMinimum: [[{ type: 'number', exclusiveMinimum: 0 }, 0, 'It must be more than 0']],
  exclusiveMaximum: [[{ type: 'number', exclusiveMaximum: 5 }, 5, 'It must be less than 5']],
  multipleOf: [[{ type: 'number', multipleOf: 2 }, 3, 'It must be a multiple of 2']],
  minItems: [
    [{ type: 'array', minItems: 1 }, [], 'It must not be empty'],
    [{ type: 'array', minItems: 2 }, [1], 'It must have at least 2 entries'],
  ],
  maxItems: [[{ type: 'array', maxItems: 1 }, [1, 2], 'It must have at most 1 entry']],
  uniqueItems: [
    [{ type: 'array', uniqueItems: true }, ['a', 'b', 'a'], 'It has the same entry twice, at 0 and 2'],
  ],
  'x-unique': [
    [{ type: 'array', 'x-unique': 'id' }, [{ id: 1 }, { id: 1 }], 'It has two entries with the same id'],
  ],
  contains: [[{ type: 'array', contains: { const: 'read' } }, ['x'], 'It lacks an entry that it needs']],
  minProperties: [
    [{ type: 'object', minProperties: 1 }, {}, 'It must not be empty'],
    [
      { type: 'object', minProperties: 2, properties: { a: {}, b: {} } },
      { a: 1 },
      'It needs at least 2 of a, b',
    ],
  ],
  maxProperties: [
    [
      { type: 'object', maxProperties: 1, properties: { a: {}, b: {} } },
      { a: 1, b: 1 },
      'It must have at most 1 of a, b',
    ],
  ],
  propertyNames: [
    [
      { type: 'object', propertyNames: { pattern: '^a' } },
      { b: 1 },
      'It has "b", which is no name that is possible here',
    ],
  ],
  not: [[{ not: { const: 'vision' } }, 'vision', 'It must not be vision']],
  anyOf: [
    [
      {
        type: 'string',
        anyOf: [{ format: 'date' }, { pattern: '^-' }],
        description: 'a day, or so long ago',
      },
      'x',
      'It must be a day, or so long ago',
    ],
    [
      { anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }] },
      1,
      'It must be text or a list',
    ],
    [
      { type: 'object', anyOf: [{ minProperties: 1 }, { minProperties: 2 }], 'x-says': 'has nothing in it' },
      {},
      'It has nothing in it',
    ],
  ],
  oneOf: [
    [
      {
        type: 'object',
        properties: { a: {}, b: {} },
        oneOf: [
          { properties: { a: true }, required: ['a'] },
          { properties: { b: true }, required: ['b'] },
        ],
      },
      {},
      'It needs exactly one of "a" or "b"',
    ],
  ],
  if: [
    [
      {
        type: 'object',
        properties: { a: {}, b: { type: 'string' } },
        if: { properties: { a: { const: 1 } } },
        else: { properties: { b: true }, required: ['b'] },
      },
      { a: 2 },
      'It needs "b"',
    ],
  ],
};
/** They refuse nothing by themselves. */
const NOTES = new Set(
  '$schema title description default examples properties items allOf then else format $id $defs prefixItems'.split(
    ' ',
  ),
);

const MAPS = new Set(['properties', 'patternProperties', '$defs']);

function keywordsOf(node: unknown): readonly string[] {
  if (node === false) return ['false schema'];
  if (Array.isArray(node)) return node.flatMap(keywordsOf);
  if (typeof node !== 'object' || node === null) return [];
  return Object.entries(node).flatMap(([keyword, value]: [string, unknown]) => {
    if (MAPS.has(keyword)) return [keyword, ...Object.values(value as object).flatMap(keywordsOf)];
    const below = ['const', 'enum', 'default', 'examples'].includes(keyword) ? [] : keywordsOf(value);
    return [keyword, ...below];
  });
}

const inputs = rows.flatMap(({ id, body, query }) => [
  ...(body ? [{ name: `${id} body`, schema: body, coerce: false }] : []),
  ...(query ? [{ name: `${id} query`, schema: query, coerce: true }] : []),
]);

describe('the sentence about a value that does not fit its schema', () => {
  for (const [keyword, cases] of Object.entries(SENTENCES))
    it(`${keyword}: says what is meant, not what Ajv says`, () => {
      for (const [schema, value, sentence] of cases)
        expect((validatorOf(schema)(value) ?? []).map((violation) => faultOf(violation, 'It'))).to.deep.equal(
          [sentence],
        );
    });

  it('has words for every keyword in the schemas of bodies, queries, config and manifest', () => {
    const used = new Set(
      [...inputs.map(({ schema }) => schema), configSchema, MANIFEST_SCHEMA].flatMap(keywordsOf),
    );
    const silent = [...used].filter(
      (keyword) =>
        !NOTES.has(keyword) && !keyword.startsWith('x-') && keyword !== 'if' && WORDS[keyword] === undefined,
    );
    expect(silent).to.deep.equal([]);
    expect(
      [...used].filter((keyword) => WORDS[keyword] !== undefined && SENTENCES[keyword] === undefined),
    ).to.deep.equal([]);
  });

  it('whatever a client sends, no word of Ajv comes back', () => {
    const members = fc.constantFrom(
      ...new Set(
        inputs.flatMap(({ schema }) => Object.keys((schema as { properties?: object }).properties ?? {})),
      ),
    );
    const value = fc.oneof(fc.jsonValue(), fc.dictionary(members, fc.jsonValue(), { maxKeys: 6 }));
    fc.assert(
      fc.property(fc.constantFrom(...inputs), value, ({ name, schema, coerce }, sent) => {
        for (const { message } of validatorOf(schema, { coerce })(sent) ?? [])
          expect(message, name).to.not.match(AJV);
      }),
      { numRuns: 3000 },
    );
  });
});
