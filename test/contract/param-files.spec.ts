import { execFileSync } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { ardupilotParams } from '../../front/control/param-metadata/ardupilot-file.ts';
import { ParamMetadata } from '../../front/control/param-metadata/param-metadata.ts';
import { px4Params } from '../../front/control/param-metadata/px4-file.ts';
import { DescriptionTable } from '../../front/control/param-metadata/table.ts';
import { createLogger } from '../../shared/process/logger.ts';
import { paramValue } from '../../shared/schemas/params.ts';
import { createAjv } from '../../shared/schemas/validator.ts';
import { needs } from '../support/needs.ts';
import { removeDir, tempDir } from '../support/temp.ts';

const described = (name: string, more: object = {}): object => ({
  parameters: [{ name, default: 3, min: 1, ...more }],
});

describe('files with descriptions of parameters', () => {
  let dir: string;
  let metadata: ParamMetadata;
  const put = async (folder: string, name: string, content: string | Buffer): Promise<void> => {
    await mkdir(join(dir, folder), { recursive: true });
    await writeFile(join(dir, folder, name), content);
  };

  beforeEach(async () => {
    dir = await tempDir();
    metadata = new ParamMetadata({
      fromVehicles: join(dir, 'vehicle'),
      fromOperator: join(dir, 'operator'),
      log: createLogger('test', 'silent'),
    });
  });

  afterEach(async () => removeDir(dir));

  it("the vehicle's own goes before the operator's; one that cannot be read leaves it to the other", async () => {
    expect(await metadata.of('px4', null)).to.equal(null);
    await put('operator', 'parameters.json', JSON.stringify(described('A', { default: 1 })));
    expect((await metadata.of('px4', 'gone.json'))?.defaultOf('A')).to.equal(1);
    await put('vehicle', 'own.json', JSON.stringify(described('A', { default: 2 })));
    expect((await metadata.of('px4', 'own.json'))?.defaultOf('A')).to.equal(2);
    await put('vehicle', 'own.json', '{"parameters": [');
    expect((await metadata.of('px4', 'own.json'))?.defaultOf('A')).to.equal(1);
    expect(await metadata.of('ardupilot', null), 'a file of the other firmware').to.equal(null);
    expect(await metadata.of('unknown', 'own.json')).to.equal(null);
  });

  it('a packed file that unpacks to more than 8 MiB is left alone, and so is one that is larger', async function () {
    needs(this, 'xz');
    const bomb = execFileSync('xz', ['-c'], {
      input: Buffer.alloc(64 * 1024 * 1024, ' '),
      maxBuffer: 1 << 26,
    });
    expect(bomb.length).to.be.below(100_000);
    await put('operator', 'parameters.json.xz', bomb);
    expect(await metadata.of('px4', null)).to.equal(null);
    await put(
      'operator',
      'parameters.json',
      `${JSON.stringify(described('A'))}${' '.repeat(9 * 1024 * 1024)}`,
    );
    expect(await metadata.of('px4', null)).to.equal(null);
    await put('operator', 'parameters.json', JSON.stringify(described('A')));
    expect((await metadata.of('px4', null))?.size).to.equal(1);
    await put('operator', 'apm.pdef.json', await readFile(join(dir, 'operator', 'parameters.json.xz')));
    expect(await metadata.of('ardupilot', null)).to.equal(null);
  });

  it('whatever JSON a file has, what comes of it fits the answer of the route', () => {
    const fits = createAjv().compile(paramValue);
    const answers = (all: ReturnType<typeof px4Params>): void => {
      const table = new DescriptionTable(all ?? []);
      for (const { name } of all ?? []) {
        const body = { name, value: 1, type: 9, default: table.defaultOf(name), metadata: table.get(name) };
        expect(fits(body), JSON.stringify([body, fits.errors])).to.equal(true);
      }
    };
    const member = fc.oneof(
      fc.jsonValue(),
      fc.constantFrom('1e999', 'NaN', '-5', 1e308, null, [{ value: '3', description: 'x' }]),
    );
    const keys = [
      'group',
      'shortDesc',
      'min',
      'max',
      'default',
      'increment',
      'values',
      'bitmask',
      'rebootRequired',
    ];
    const arduKeys = ['DisplayName', 'Range', 'Units', 'Values', 'Bitmask', 'RebootRequired', 'Increment'];
    const of = (names: readonly string[]): fc.Arbitrary<object> =>
      fc.record(Object.fromEntries(names.map((key) => [key, member])), { requiredKeys: [] });
    fc.assert(
      fc.property(fc.array(of(keys)), of(arduKeys), fc.jsonValue(), (params, one, anything) => {
        answers(px4Params({ parameters: params.map((each, index) => ({ ...each, name: `P${index}` })) }));
        answers(ardupilotParams({ G_: { G_A: { Description: 'x', ...one } } }));
        answers(px4Params(anything));
        answers(ardupilotParams(anything));
      }),
    );
  });
});
