require 'json'
require 'mysql2'

ca = ENV['SEALION_CA']
MODES = {
  'default' => {},
  'preferred' => { ssl_mode: :preferred },
  'required' => { ssl_mode: :required },
  'required-ca' => { sslca: ca, ssl_mode: :required },
  'ca' => { sslca: ca },
  'verify-ca' => { sslca: ca, ssl_mode: :verify_ca },
  'verify-identity' => { sslca: ca, ssl_mode: :verify_identity },
  'sslverify' => { sslca: ca, sslverify: true }
}.freeze
if ARGV[0] == 'version'
  puts "#{Mysql2::VERSION} on #{Mysql2::Client.info[:version]}"
  exit
end
options = ARGV[0] == 'settings' ? JSON.parse(ENV['SEALION_SETTINGS'], symbolize_names: true) : MODES.fetch(ARGV[0])
client = Mysql2::Client.new(
  host: ENV['SEALION_HOST'],
  port: ENV['SEALION_PORT'].to_i,
  username: ENV['SEALION_USER'],
  password: ENV['SEALION_PASSWORD'],
  connect_timeout: 5,
  read_timeout: 5,
  **options
)
client.query('SELECT 1').to_a
