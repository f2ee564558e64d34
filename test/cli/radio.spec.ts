import { expect } from 'chai';
import { EXIT } from '../../bin/cli/exit-codes.ts';
import { TestNode } from '../support/node.ts';
import { RadioMachine } from '../support/radio-machine.ts';
import { ReportServer, recorded } from '../support/report-server.ts';
import { svc } from '../support/svc.ts';

describe('svc radio', function () {
  this.timeout(120_000);
  const server = new ReportServer();
  let machine: RadioMachine;
  let node: TestNode;
  let playing: NodeJS.Timeout;

  before(async () => {
    machine = await RadioMachine.of('wlan1');
    await server.start();
    node = await TestNode.start({
      config: `agent:\n  profile: ground-station\nradio:\n  mode: external\n  api_port: ${server.port}\n  cards: [wlan1]\n`,
      args: ['--helper'],
      env: machine.env,
      simulated: false,
    });
    await server.client();
    playing = setInterval(() => server.send(`${recorded('gs-wrongkey').join('\n')}\n`), 200);
  });

  after(async () => {
    clearInterval(playing);
    await node.stop();
    await server.stop();
    await machine.stop();
  });

  it('status: what is heard, and what is wrong, in words', async () => {
    let answer = await svc(node.paths, 'radio', 'status');
    while (!answer.stdout.includes('mis_keyed')) answer = await svc(node.paths, 'radio', 'status');
    expect(answer.code).to.equal(0);
    expect(answer.stdout).to.match(/^channel {4}161, 5805 MHz, 18 dBm$/m);
    expect(answer.stdout).to.match(/^diagnosis {2}Frames arrive and none can be decrypted/m);
    expect(answer.stdout).to.match(/^signal {5}unknown, SNR unknown$/m);
    expect(JSON.parse((await svc(node.paths, 'radio', 'status', '--json')).stdout)).to.include({
      state: 'mis_keyed',
    });
  });

  it('survey, channel and power: done, or the words of the kernel and exit code 1', async () => {
    const survey = await svc(node.paths, 'radio', 'survey');
    expect(survey.stdout).to.match(/^with wlan1$/m);
    expect(survey.stdout).to.match(/^ +100 +5500 +- +- +not allowed to send$/m);
    const hop = await svc(node.paths, 'radio', 'channel', '36', '--force');
    expect(hop.stderr + hop.stdout).to.match(/The radio is on channel 36 \(5180 MHz\)\./);
    const refused = await svc(node.paths, 'radio', 'channel', '100', '--force');
    expect(refused.code).to.equal(EXIT.refused);
    expect(refused.stderr.replaceAll(/\s+/g, ' ')).to.match(/Channel is disabled/);
    const power = await svc(node.paths, 'radio', 'power', '27', '--force');
    expect(power.stdout).to.equal('The card reports 20 dBm.\nThe region allows 20 dBm on this channel.\n');
    expect((await svc(node.paths, 'radio', 'power', 'much')).code).to.equal(EXIT.usage);
    expect((await svc(node.paths, 'radio', 'power', '40', '--force')).code).to.equal(EXIT.refused);
  });
});
