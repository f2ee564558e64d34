import { expect } from 'chai';
import { hubOpenApi } from '../../shared/hub-api/openapi.ts';
import { hubRows } from '../../shared/hub-api/rows.ts';
import { isObject, type JsonObject, listOf, memberOf, recordOf } from '../../shared/member.ts';
import { openApiDocument } from '../../shared/routes/openapi.ts';
import { ROWS } from '../../shared/routes/table.ts';

/** The rule of docs/contract/openapi.md, "Names", held against every answer of node and hub. */

const UNIT =
  /(?:^|_)(?:m|km|mps|deg|s|seconds|ms|us|ns|v|a|mah|percent|c|hz|kbps|kbit_s|bytes|mb|gb|dbm|db|mhz|px|fps|rpm|lat|lon|hours)$/;
const IN_WORDS =
  /\b(?:m|m\/s|m\/s²|degrees|radians|V|A|percent|seconds|pixels|share|hours|days|flights|without unit)(?:\b|\s|$|,|;)/;
/** In units that the vehicle, the metric or the command has, which another member says. */
const OF_ANOTHER =
  /^(?:Param|Mission(?:Item|Warning)\.(?:param\d|sent|held)$|(?:AggregatePage\.(?:buckets|data)|RecordPage\.(?:records|data))\.(?:value|min|max|mean)$|.*findings\.evidence\.(?:value|bound)$)/;

interface Member {
  readonly at: string;
  readonly name: string;
  readonly schema: JsonObject;
  readonly beside: JsonObject;
}

function* membersOf(document: JsonObject): Generator<Member> {
  const schemas = memberOf(memberOf(document, 'components'), 'schemas');
  const done = new Set<unknown>();
  function* within(schema: unknown, at: string): Generator<Member> {
    if (!isObject(schema)) return;
    const ref = schema['$ref'];
    if (typeof ref === 'string') {
      const name = ref.slice(ref.lastIndexOf('/') + 1);
      if (done.has(name)) return;
      done.add(name);
      return yield* within(memberOf(schemas, name), name);
    }
    for (const word of ['anyOf', 'oneOf', 'allOf'])
      for (const each of listOf(schema[word])) yield* within(each, at);
    yield* within(schema['items'], at);
    yield* within(schema['additionalProperties'], at);
    const { properties } = schema;
    if (!isObject(properties)) return;
    for (const [name, each] of Object.entries(properties)) {
      if (!isObject(each)) continue;
      yield { at: `${at}.${name}`, name, schema: each, beside: properties };
      yield* within(each, `${at}.${name}`);
    }
  }
  for (const item of Object.values(recordOf(memberOf(document, 'paths'))))
    for (const operation of Object.values(recordOf(item)))
      for (const [status, answer] of Object.entries(recordOf(memberOf(operation, 'responses')))) {
        const json = memberOf(memberOf(answer, 'content'), 'application/json');
        if (status < '300')
          yield* within(memberOf(json, 'schema'), String(memberOf(operation, 'operationId')));
      }
}

const documents: readonly (readonly [string, JsonObject])[] = [
  ['node', openApiDocument(ROWS, '1.2.3')],
  ['hub', hubOpenApi(hubRows, '1.2.3')],
];
for (const [whose, document] of documents)
  describe(`the names in the answers of the ${whose}`, () => {
    const members = [...membersOf(document)];
    const isNumber = ({ schema }: Member): boolean => [schema['type']].flat().includes('number');
    const of = (found: readonly Member[]): readonly string[] => found.map(({ at }) => at);

    it('say the unit of each number', () => {
      const numbers = members.filter(isNumber);
      const told = ({ name, schema, at }: Member): boolean =>
        UNIT.test(name) || IN_WORDS.test(String(schema['description'])) || OF_ANOTHER.test(at);
      expect(numbers.length).to.be.above(10);
      expect(of(numbers.filter((each) => !told(each)))).to.deep.equal([]);
    });

    it('say milliseconds where it is not a metre per second, and degrees where nothing is said', () => {
      const slow = members.filter(
        ({ name, schema }) => /(?:speed|climb|wind)_ms$/.test(name) && schema['deprecated'] !== true,
      );
      const turned = members.filter(
        ({ name, schema }) =>
          (name.endsWith('_rad') || /\bradians\b/.test(String(schema['description']))) &&
          schema['deprecated'] !== true,
      );
      expect(of([...slow, ...turned])).to.deep.equal([]);
    });

    it('have their new name beside those of an earlier version', () => {
      for (const { at, schema, beside } of members.filter((member) => member.schema['deprecated'] === true)) {
        const now = /^`(\w+)`/.exec(String(schema['description']))?.[1] ?? '';
        expect(beside[now], at).to.be.an('object').that.has.property('type').that.deep.equals(schema['type']);
        expect(memberOf(beside[now], 'deprecated'), at).to.equal(undefined);
      }
    });

    it('call a list what it holds', () => {
      const lists = members.filter(
        ({ name, schema, at }) =>
          ['data', 'items', 'list', 'results', 'installs'].includes(name) &&
          schema['type'] === 'array' &&
          schema['deprecated'] !== true &&
          !/^Mission|^Fence|^Rally|^ParamListWritten|^ParamsResetDone/.test(at),
      );
      expect(of(lists)).to.deep.equal([]);
    });
  });
