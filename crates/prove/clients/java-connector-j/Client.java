import java.io.FileInputStream;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.sql.Connection;
import java.sql.Driver;
import java.sql.DriverManager;
import java.sql.Statement;
import java.util.Map;
import java.util.Properties;

public class Client {
    static final String STORE =
        "&trustCertificateKeyStoreUrl={store}&trustCertificateKeyStoreType=PKCS12&trustCertificateKeyStorePassword=sealion";
    static final Map<String, String> MODES = Map.ofEntries(
        Map.entry("default", ""),
        Map.entry("disabled", "&sslMode=DISABLED"),
        Map.entry("required", "&sslMode=REQUIRED"),
        Map.entry("verify-ca", "&sslMode=VERIFY_CA" + STORE),
        Map.entry("verify-identity", "&sslMode=VERIFY_IDENTITY" + STORE),
        Map.entry("system-verify-ca", "&sslMode=VERIFY_CA"),
        Map.entry("system-verify-identity", "&sslMode=VERIFY_IDENTITY"),
        Map.entry("no-ssl", "&useSSL=false"),
        Map.entry("ssl", "&useSSL=true"),
        Map.entry("ssl-required", "&useSSL=true&requireSSL=true"),
        Map.entry("ssl-verify", "&useSSL=true&verifyServerCertificate=true" + STORE),
        Map.entry("ssl-required-verify", "&useSSL=true&requireSSL=true&verifyServerCertificate=true" + STORE));

    /** Java wants a store of its own kind: one with the CA, and nothing else in it. */
    static Path store() throws Exception {
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        try (InputStream pem = new FileInputStream(System.getenv("SEALION_CA"))) {
            store.setCertificateEntry("ca", CertificateFactory.getInstance("X.509").generateCertificate(pem));
        }
        Path path = Files.createTempFile(Path.of("."), "ca", ".p12");
        path.toFile().deleteOnExit();
        try (var out = Files.newOutputStream(path)) {
            store.store(out, "sealion".toCharArray());
        }
        return path.toAbsolutePath();
    }

    static String settings() {
        String told = System.getenv("SEALION_SETTINGS");
        String ca = "trustCertificateKeyStoreUrl=" + System.getenv("SEALION_CA");
        return (told.isEmpty() ? "" : "&" + told)
            .replace(ca, "trustCertificateKeyStoreUrl={store}&trustCertificateKeyStoreType=PKCS12&trustCertificateKeyStorePassword=sealion");
    }

    public static void main(String[] words) throws Exception {
        Driver driver = DriverManager.drivers().filter(one -> one.getClass().getName().startsWith("com.mysql.cj")).findFirst().get();
        if (words[0].equals("version")) {
            System.out.println(Path.of(driver.getClass().getProtectionDomain().getCodeSource().getLocation().toURI())
                .getFileName().toString().replaceAll("[^0-9]*([0-9.]+)\\.jar", "$1"));
            return;
        }
        Path store = store();
        // A machine whose own store has the CA: Java reads it when it is first asked.
        System.setProperty("javax.net.ssl.trustStore", store.toString());
        System.setProperty("javax.net.ssl.trustStorePassword", "sealion");
        // Settings name the CA as a file; this driver wants a store of it.
        String options = (words[0].equals("settings") ? settings() : MODES.get(words[0]))
            .replace("{store}", store.toUri().toString());
        String front = System.getenv().getOrDefault("SEALION_FRONT",
            "jdbc:mysql://" + System.getenv("SEALION_HOST") + ":" + System.getenv("SEALION_PORT"));
        // With several hosts it would begin again 120 times when none takes it.
        String once = System.getenv("SEALION_FRONT") == null ? "" : "&retriesAllDown=1";
        String url = front + "/?connectTimeout=5000&socketTimeout=5000" + once + options;
        Properties login = new Properties();
        login.put("user", System.getenv("SEALION_USER"));
        login.put("password", System.getenv("SEALION_PASSWORD"));
        try (Connection connection = driver.connect(url, login); Statement statement = connection.createStatement()) {
            statement.executeQuery("SELECT 1").next();
        }
    }
}
