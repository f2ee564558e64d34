import { describeClient } from './describe-client.ts';
import type { Expected } from './side-by-side.ts';

const DENIED: Expected = { node: 'PERMISSION_DENIED' };

describeClient(
  { driver: 'mavsdk_client', needs: ['mavsdk'], limit: 110 },
  {
    'write an unknown parameter': { straight: ['TIMEOUT', 'DOES_NOT_EXIST'] },
    // It reads beyond the end of a file whose size ArduPilot only estimates.
    'file download': { straight: ['PROTOCOL_ERROR', 'ok'] },
    'file download in a burst': { straight: ['PROTOCOL_ERROR', 'ok'] },
    // It does not even ask an ArduPilot, nor a vehicle that is armed.
    'gyro calibration': { straight: ['UNSUPPORTED', 'ok'] },
    'gyro calibration while armed': { straight: ['UNSUPPORTED', 'FAILED_ARMED'] },
    'gyro calibration in the air': { straight: ['UNSUPPORTED', 'FAILED_ARMED'] },
    camera: { only: 'node' },
    photo: { only: 'node' },
    'write a parameter 0 s after arming': DENIED,
    'write a parameter 0.3 s after arming': DENIED,
    'write a parameter 0.6 s after arming': DENIED,
    'write a parameter 1.5 s after arming': DENIED,
    'write a parameter 3 s after arming': DENIED,
    'reboot while armed': { straight: ['FAILED', 'COMMAND_DENIED'], node: 'COMMAND_DENIED' },
    // A parameter of PX4's; on ArduPilot it keeps it to itself.
    'take-off height': { node: ['ok', 'PARAMETER_ERROR'] },
    'write a parameter in the air': DENIED,
    'file upload in the air': { node: 'FILE_PROTECTED' },
    // In the frame that MAVSDK names: PX4 refuses it in a way that MAVSDK does not know.
    orbit: { straight: ['UNSUPPORTED', 'UNKNOWN'] },
  },
);
