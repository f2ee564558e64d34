import { expect } from 'chai';
import { common } from 'node-mavlink';
import type { SimClient } from './sim-client.ts';
import { SimProcess } from './sim-process.ts';

async function download(client: SimClient): Promise<Map<number, common.ParamValue>> {
  const got = new Map<number, common.ParamValue>();
  const last = client.next(common.ParamValue, (param) => {
    got.set(param.paramIndex, param);
    return param.paramIndex === param.paramCount - 1;
  });
  client.send(common.ParamRequestList, { targetSystem: 1, targetComponent: 1 });
  await last;
  return got;
}

async function set(client: SimClient, paramId: string, paramValue: number): Promise<common.ParamValue> {
  const answer = client.next(common.ParamValue, (param) => param.paramId === paramId);
  client.send(common.ParamSet, { targetSystem: 1, targetComponent: 1, paramId, paramValue, paramType: 9 });
  return answer;
}

async function read(client: SimClient, paramId: string, paramIndex: number): Promise<common.ParamValue> {
  const answer = client.next(common.ParamValue, (param) =>
    paramIndex < 0 ? param.paramId === paramId : param.paramIndex === paramIndex,
  );
  client.send(common.ParamRequestRead, { targetSystem: 1, targetComponent: 1, paramId, paramIndex });
  return answer;
}

describe('sim parameters', () => {
  it('lists about 500 parameters, complete, with ArduPilot names and types, as values in floats', async () => {
    await using sim = await SimProcess.start('--param-rate', '2000');
    const client = await sim.connect();
    const all = [...(await download(client)).values()];
    expect(all.length).to.be.within(400, 600);
    expect(all.every(({ paramCount }) => paramCount === all.length)).to.equal(true);
    expect(new Set(all.map(({ paramId }) => paramId)).size).to.equal(all.length);
    expect(all.filter(({ paramId }) => !/^[A-Z0-9_]{2,16}$/.test(paramId))).to.deep.equal([]);
    expect([...new Set(all.map(({ paramType }) => paramType))].sort((a, b) => a - b)).to.deep.equal([
      2, 4, 6, 9,
    ]);
    const types = Object.fromEntries(all.map(({ paramId, paramType }) => [paramId, paramType]));
    expect(types).to.include({
      SYSID_THISMAV: 4,
      WPNAV_SPEED: 9,
      ARMING_CHECK: 6,
      FRAME_CLASS: 2,
      SIM_SPEEDUP: 9,
    });
  });

  it('reads one by index and by name, and leaves an unknown name without an answer', async () => {
    await using sim = await SimProcess.start();
    const client = await sim.connect();
    const byIndex = await read(client, '', 1);
    expect(byIndex).to.include({ paramId: 'SYSID_THISMAV', paramValue: 1, paramType: 4, paramIndex: 1 });
    client.send(common.ParamRequestRead, {
      targetSystem: 1,
      targetComponent: 1,
      paramId: 'NO_SUCH',
      paramIndex: -1,
    });
    const byName = await read(client, 'RTL_ALT', -1);
    expect(byName).to.include({ paramId: 'RTL_ALT', paramValue: 1500, paramType: 6, paramIndex: 65535 });
  });

  it('stores a written value as its type can hold it, and acts on it', async () => {
    await using sim = await SimProcess.start();
    const client = await sim.connect();
    expect((await set(client, 'WPNAV_SPEED', 512.5)).paramValue).to.equal(512.5);
    expect((await set(client, 'ACRO_BAL_ROLL', 0.1)).paramValue).to.equal(Math.fround(0.1));
    expect((await set(client, 'FRAME_CLASS', 300)).paramValue).to.equal(127);
    expect((await set(client, 'RTL_ALT', 2000.7)).paramValue).to.equal(2000);
    await set(client, 'SR0_EXTRA1', 20);
    await client.next(common.Attitude, undefined, 500);
    await set(client, 'SYSID_THISMAV', 42);
    expect(client.packets.at(-1)?.header.sysid).to.equal(42);
  });

  it('loses PARAM_VALUEs of a download as --drop-params says, and answers when they are asked for again', async () => {
    await using sim = await SimProcess.start('--drop-params', '0.2', '--seed', '3', '--param-rate', '5000');
    const client = await sim.connect();
    client.send(common.ParamRequestList, { targetSystem: 1, targetComponent: 1 });
    const seen = new Set<number>();
    const { paramCount } = await client.next(common.ParamValue, (param) => {
      seen.add(param.paramIndex);
      return param.paramIndex > param.paramCount - 8;
    });
    expect(seen.size).to.be.within(paramCount * 0.65, paramCount * 0.95);
    const missing = Array.from({ length: paramCount - 10 }, (_, i) => i).filter((i) => !seen.has(i));
    for (const index of missing.slice(0, 3))
      expect((await read(client, '', index)).paramIndex).to.equal(index);
  });

  it('has no SIM_ parameter and no SIMSTATE when it acts as a real vehicle', async () => {
    await using sim = await SimProcess.start('--not-simulated', '--param-rate', '2000');
    const client = await sim.connect();
    const names = [...(await download(client)).values()].map(({ paramId }) => paramId);
    expect(names.filter((name) => name.startsWith('SIM_'))).to.deep.equal([]);
    await set(client, 'SR0_EXTRA1', 20);
    await client.next(common.Attitude);
    await client.next(common.Attitude);
    expect(client.packets.filter(({ header }) => header.msgid === 164)).to.deep.equal([]);
  });
});
